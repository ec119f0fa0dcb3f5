// Closures, generics, operators and trait objects. Build 2 has one more closure before those of
// build 1, and other crate metadata.
use std::fmt::Display;
use std::hint::black_box;
use std::ops::Shl;

pub struct Cart<T>(pub T);

impl<T: Display> Cart<T> {
    #[inline(never)]
    pub fn show(&self) -> String {
        format!("{}", self.0)
    }
}

impl<T: Copy + Into<u64>> Shl<u64> for Cart<T> {
    type Output = u64;
    #[inline(never)]
    fn shl(self, by: u64) -> u64 {
        black_box(self.0.into()) << by
    }
}

impl<T> Drop for Cart<T> {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(&self.0);
    }
}

#[inline(never)]
fn call(f: &dyn Fn(u64) -> u64, x: u64) -> u64 {
    f(black_box(x))
}

#[inline(never)]
fn map<A, B>(f: fn(A) -> B, a: A) -> B {
    f(black_box(a))
}

#[inline(never)]
fn run(n: u64) -> u64 {
    //2 let before = call(&|x| x.wrapping_add(black_box(3)), n);
    let mut sum = call(&|x| x.rotate_left(black_box(5)) ^ n, n);
    sum += call(&|x| call(&|y| y / black_box(7) + x, x), n);
    //2 sum += before;
    sum
}

mod shop {
    #[inline(never)]
    pub fn total(n: u64) -> u64 {
        std::hint::black_box(n) * 3
    }
    pub mod stock {
        #[inline(never)]
        pub fn total(n: u64) -> u64 {
            std::hint::black_box(n) * 5
        }
    }
}

#[inline(never)]
fn find<const SIGN: char>(text: &str) -> usize {
    black_box(text).find(SIGN).unwrap_or(0)
}

fn main() {
    let n = std::env::args().count() as u64;
    let mut carts: Vec<Box<dyn Fn() -> String>> = Vec::new();
    //2 carts.push(Box::new(move || Cart(n + 1).show()));
    carts.push(Box::new(move || Cart(n).show()));
    carts.push(Box::new(move || Cart("text").show()));
    let shown: usize = carts.iter().map(|show| show().len()).sum();
    let shifted = (Cart(n as u32) << 3) + (Cart(n) << 2);
    let mapped = map(|x: u64| x.to_string(), n).len() + map(|x: u8| x as char, 65) as usize;
    let mapped = mapped + find::<'<'>("a<b") + find::<'>'>("a>b");
    println!("{} {shown} {shifted} {mapped} {}", run(n), shop::total(n) + shop::stock::total(n));
}
