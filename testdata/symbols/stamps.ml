(* A number of its own, the stamp, follows each function's name in its symbol. *)
//2 let twice f x = f (f x)
//2 let id x = x
let rec leaf acc n = if n = 0 then acc else leaf ((acc * 31 + n) mod 1000003) (n - 1)
let hash n = leaf 1 n + leaf 2 n
module Shop = struct
  let ( ^^ ) a b = a + b
  let total items = List.fold_left (fun sum item -> sum ^^ item) 0 items
  let price_2 x = x * 2
end
let () = Printf.printf "%d %d\n" (Shop.total [hash 1; hash 2]) (Shop.price_2 4)
