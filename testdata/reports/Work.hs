module Main (main) where

import qualified Data.Map.Strict as Map

fib :: Int -> Integer
fib n = if n < 2 then toInteger n else fib (n - 1) + fib (n - 2)

count :: Int -> Map.Map Int Int
count n = foldr (\k -> Map.insertWith (+) (k `mod` 97) 1) Map.empty [1 .. n]

isEven, isOdd :: Int -> Bool
isEven n = n == 0 || isOdd (n - 1)
isOdd n = n /= 0 && isEven (n - 1)

main :: IO ()
main = do
  print (fib 28)
  print (Map.size (count 1000000))
  print (isEven 20000000)
