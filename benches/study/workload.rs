//! The program of the study: a small search engine over synthetic documents, with about forty
//! functions, three of them recursive, and helpers that many of them share.
//!
//! ```text
//! study_workload SLOWER [SEED]
//! ```
//!
//! `SLOWER` is the additional work of `score` in percent: 0, 2, 5, 10, 25. Everything else does the
//! same work in every run. Runs differ as in practice: in the addresses of the program, the seed of
//! std's hash maps, and with `SEED` the order of the documents.

use std::collections::HashMap;
use std::hint::black_box;

const DOCUMENTS: usize = 480;
const WORDS: usize = 220;
const VOCABULARY: u64 = 3000;
const QUERIES: usize = 2000;
const ROUNDS_OF_SCORE: u64 = 200;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| {
        text.parse::<u64>()
            .expect("usage: study_workload SLOWER [SEED], both whole numbers")
    });
    let slower = arguments.next().unwrap_or(0);
    let seed = arguments.next().unwrap_or(1);
    let mut engine = Engine {
        rounds: ROUNDS_OF_SCORE * (100 + slower) / 100,
        ..Engine::default()
    };
    let mut random = Random(2_463_534_242);
    let mut documents: Vec<String> = (0..DOCUMENTS).map(|_| write_text(&mut random)).collect();
    shuffle(&mut documents, &mut Random(seed.wrapping_mul(2) + 1));
    build(&mut engine, &documents);
    println!("{:x}", serve(&engine, &documents, &mut random));
}

#[derive(Default)]
struct Engine {
    rounds: u64,
    words: HashMap<String, u32>,
    postings: Vec<Vec<u8>>,
    archive: Vec<Vec<u8>>,
    lengths: Vec<f64>,
}

/// Marsaglia, Xorshift RNGs (2003).
struct Random(u64);

#[inline(never)]
fn next_random(random: &mut Random) -> u64 {
    random.0 ^= random.0 << 13;
    random.0 ^= random.0 >> 7;
    random.0 ^= random.0 << 17;
    random.0
}

#[inline(never)]
fn shuffle(documents: &mut [String], random: &mut Random) {
    for last in (1..documents.len()).rev() {
        documents.swap(last, (next_random(random) % (last as u64 + 1)) as usize);
    }
}

#[inline(never)]
fn write_word(mut number: u64, text: &mut String) {
    for _ in 0..3 {
        text.push(char::from(b'a' + (number % 13) as u8));
        text.push(char::from(b"aeiou"[(number % 5) as usize]));
        number /= 13;
    }
}

#[inline(never)]
fn write_text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..WORDS {
        let skewed = next_random(random) % VOCABULARY * (next_random(random) % VOCABULARY);
        write_word(skewed / VOCABULARY, &mut text);
        text.push_str(["ing ", "ed ", " ", ", "][(next_random(random) % 4) as usize]);
    }
    text
}

// Building the index.

#[inline(never)]
fn build(engine: &mut Engine, documents: &[String]) {
    for (number, text) in documents.iter().enumerate() {
        add_document(engine, number as u64, text);
    }
}

#[inline(never)]
fn add_document(engine: &mut Engine, number: u64, text: &str) {
    let words = tokenize(text);
    engine.lengths.push(words.len() as f64);
    for (word, count) in count_words(&words) {
        add_posting(engine, &word, number, count);
    }
    let packed = compress(text.as_bytes());
    black_box(checksum(&packed));
    engine.archive.push(packed);
}

#[inline(never)]
fn tokenize(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphabetic());
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| stem(&fold_case(word)).to_owned())
        .collect()
}

#[inline(never)]
fn fold_case(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

#[inline(never)]
fn stem(word: &str) -> &str {
    let endings = ["ations", "ation", "ness", "ing", "ed", "s"];
    let ending = endings.iter().find(|ending| word.ends_with(*ending));
    ending.map_or(word, |ending| &word[..word.len() - ending.len()])
}

#[inline(never)]
fn count_words(words: &[String]) -> Vec<(String, u64)> {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().map(|(w, n)| (w.to_owned(), n)).collect();
    counts.sort();
    counts
}

#[inline(never)]
fn add_posting(engine: &mut Engine, word: &str, document: u64, count: u64) {
    let next = engine.postings.len() as u32;
    let id = *engine.words.entry(word.to_owned()).or_insert(next);
    if id == next {
        engine.postings.push(Vec::new());
    }
    let list = &mut engine.postings[id as usize];
    push_varint(list, document);
    push_varint(list, count);
}

#[inline(never)]
fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline(never)]
fn read_varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            return number;
        }
    }
}

/// Replaces repeats within a short window by a distance and a length.
#[inline(never)]
fn compress(text: &[u8]) -> Vec<u8> {
    let (mut packed, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let (distance, length) = longest_match(text, at);
        if length > 3 {
            push_varint(&mut packed, distance as u64);
            push_varint(&mut packed, length as u64);
            at += length;
        } else {
            packed.push(text[at]);
            at += 1;
        }
    }
    packed
}

#[inline(never)]
fn longest_match(text: &[u8], at: usize) -> (usize, usize) {
    let matches = (at.saturating_sub(24)..at).map(|from| (at - from, match_length(text, from, at)));
    matches.max_by_key(|&(_, length)| length).unwrap_or((0, 0))
}

#[inline(never)]
fn match_length(text: &[u8], from: usize, at: usize) -> usize {
    let pairs = text[from..].iter().zip(&text[at..]);
    pairs.take_while(|(left, right)| left == right).count()
}

/// FNV-1a.
#[inline(never)]
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

// Answering queries.

#[inline(never)]
fn serve(engine: &Engine, documents: &[String], random: &mut Random) -> u64 {
    let mut sum = 0;
    for _ in 0..QUERIES {
        let text = write_query(random, 4);
        sum = mix(sum, answer(engine, documents, &text));
    }
    sum
}

#[inline(never)]
fn write_query(random: &mut Random, depth: u32) -> String {
    let mut text = String::new();
    if depth == 0 {
        write_word(next_random(random) % 400, &mut text);
        return text;
    }
    let left = write_query(random, depth - 1);
    let right = write_query(random, depth - 1);
    let operator = ["&", "&", "|"][(next_random(random) % 3) as usize];
    format!("({left}{operator}{right})")
}

#[inline(never)]
fn answer(engine: &Engine, documents: &[String], text: &str) -> u64 {
    let query = parse(text.as_bytes(), &mut 0);
    let mut hits = evaluate(engine, &query);
    rank(engine, &mut hits);
    let page = render(engine, documents, &hits[..hits.len().min(10)]);
    let close = suggest(engine, text);
    mix(
        checksum(page.as_bytes()),
        mix(close, embed(page.as_bytes())),
    )
}

enum Query {
    Word(String),
    All(Box<(Query, Query)>),
    Any(Box<(Query, Query)>),
}

#[inline(never)]
fn parse(text: &[u8], at: &mut usize) -> Query {
    if text[*at] != b'(' {
        return Query::Word(parse_word(text, at));
    }
    *at += 1;
    let left = parse(text, at);
    let operator = text[*at];
    *at += 1;
    let both = Box::new((left, parse(text, at)));
    *at += 1;
    match operator {
        b'&' => Query::All(both),
        _ => Query::Any(both),
    }
}

#[inline(never)]
fn parse_word(text: &[u8], at: &mut usize) -> String {
    let rest = &text[*at..];
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    *at += length;
    let word: String = rest[..length]
        .iter()
        .map(|&byte| char::from(byte))
        .collect();
    stem(&fold_case(&word)).to_owned()
}

#[derive(Clone, Copy)]
struct Hit {
    document: u64,
    count: u64,
    score: f64,
}

#[inline(never)]
fn evaluate(engine: &Engine, query: &Query) -> Vec<Hit> {
    match query {
        Query::Word(word) => read_postings(engine, word),
        Query::All(both) => intersect(&evaluate(engine, &both.0), &evaluate(engine, &both.1)),
        Query::Any(both) => unite(&evaluate(engine, &both.0), &evaluate(engine, &both.1)),
    }
}

#[inline(never)]
fn read_postings(engine: &Engine, word: &str) -> Vec<Hit> {
    let Some(&id) = engine.words.get(word) else {
        return Vec::new();
    };
    let (bytes, mut at, mut hits) = (&engine.postings[id as usize], 0, Vec::new());
    while at < bytes.len() {
        let document = read_varint(bytes, &mut at);
        let count = read_varint(bytes, &mut at);
        hits.push(Hit {
            document,
            count,
            score: 0.0,
        });
    }
    hits
}

#[inline(never)]
fn intersect(left: &[Hit], right: &[Hit]) -> Vec<Hit> {
    let position = |hit: &Hit| find_hit(right, hit.document);
    let both = left
        .iter()
        .filter_map(|hit| Some((hit, &right[position(hit)?])));
    both.map(|(a, b)| Hit {
        count: a.count + b.count,
        ..*a
    })
    .collect()
}

#[inline(never)]
fn unite(left: &[Hit], right: &[Hit]) -> Vec<Hit> {
    let mut all = left.to_vec();
    for hit in right {
        match find_hit(left, hit.document) {
            Some(at) => all[at].count += hit.count,
            None => all.push(*hit),
        }
    }
    sort(&mut all, |hit| hit.document as f64);
    all
}

#[inline(never)]
fn find_hit(hits: &[Hit], document: u64) -> Option<usize> {
    hits.binary_search_by_key(&document, |hit| hit.document)
        .ok()
}

#[inline(never)]
fn rank(engine: &Engine, hits: &mut [Hit]) {
    for hit in hits.iter_mut() {
        let length = engine.lengths[hit.document as usize];
        hit.score = -score(engine.rounds, hit.count as f64, length);
    }
    sort(hits, |hit| hit.score);
}

/// The function that the study slows down; `SLOWER` changes the number of rounds.
#[inline(never)]
fn score(rounds: u64, count: f64, length: f64) -> f64 {
    let mut score = count;
    for _ in 0..rounds {
        score = count * 2.2 / (score * 0.01 + 1.2 * (0.25 + 0.75 * length / 220.0));
    }
    score
}

#[inline(never)]
fn sort(hits: &mut [Hit], key: fn(&Hit) -> f64) {
    if hits.len() < 2 {
        return;
    }
    let middle = partition(hits, key);
    let (left, right) = hits.split_at_mut(middle);
    sort(left, key);
    sort(&mut right[1..], key);
}

/// Moves hits that precede the middle one to the front, and returns the new index of the middle one.
#[inline(never)]
fn partition(hits: &mut [Hit], key: fn(&Hit) -> f64) -> usize {
    let last = hits.len() - 1;
    hits.swap(hits.len() / 2, last);
    let mut front = 0;
    for at in 0..last {
        if key(&hits[at]) < key(&hits[last]) {
            hits.swap(at, front);
            front += 1;
        }
    }
    hits.swap(front, last);
    front
}

#[inline(never)]
fn render(engine: &Engine, documents: &[String], hits: &[Hit]) -> String {
    let mut page = String::new();
    for hit in hits {
        let text = &documents[hit.document as usize];
        escape(&excerpt(text, hit.count as usize), &mut page);
        let packed = &engine.archive[hit.document as usize];
        write_number(checksum(packed), &mut page);
        write_number(hit.document, &mut page);
    }
    page
}

#[inline(never)]
fn excerpt(text: &str, skip: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().skip(skip).take(40).collect();
    words.join(" ")
}

#[inline(never)]
fn escape(text: &str, page: &mut String) {
    for character in text.chars() {
        match character {
            'a' => page.push_str("&a;"),
            'e' => page.push_str("&e;"),
            other => page.push(other),
        }
    }
}

#[inline(never)]
fn write_number(mut number: u64, page: &mut String) {
    while number > 0 {
        page.push(char::from(b'0' + (number % 10) as u8));
        number /= 10;
    }
}

#[inline(never)]
fn suggest(engine: &Engine, text: &str) -> u64 {
    let wanted = &text[text.len() / 2..];
    let near = (0..60).map(|number| {
        let mut word = String::new();
        write_word(number * 37, &mut word);
        let known = u64::from(engine.words.contains_key(&word));
        edit_distance(wanted.as_bytes(), word.as_bytes()) + known
    });
    near.min().unwrap_or(0)
}

/// The Levenshtein distance, row by row.
#[inline(never)]
fn edit_distance(left: &[u8], right: &[u8]) -> u64 {
    let mut row: Vec<u64> = (0..=right.len() as u64).collect();
    for (line, a) in left.iter().enumerate() {
        let mut corner = row[0];
        row[0] = line as u64 + 1;
        for (column, b) in right.iter().enumerate() {
            let change = corner + u64::from(a != b);
            corner = row[column + 1];
            row[column + 1] = least(change, corner + 1, row[column] + 1);
        }
    }
    row[right.len()]
}

#[inline(never)]
fn least(a: u64, b: u64, c: u64) -> u64 {
    a.min(b).min(c)
}

#[inline(never)]
fn mix(a: u64, b: u64) -> u64 {
    let sum = (a ^ b.rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum ^ (sum >> 29)
}

/// Returns the strongest frequency of a text read as a wave.
#[inline(never)]
fn embed(bytes: &[u8]) -> u64 {
    let mut wave: Vec<(f64, f64)> = bytes.iter().map(|&byte| (f64::from(byte), 0.0)).collect();
    wave.resize(512, (0.0, 0.0));
    fourier(&mut wave);
    let strength = |&(re, im): &(f64, f64)| (re * re + im * im) as u64;
    wave.iter().skip(1).map(strength).max().unwrap_or(0)
}

/// The algorithm of Cooley and Tukey.
#[inline(never)]
fn fourier(wave: &mut [(f64, f64)]) {
    if wave.len() == 1 {
        return;
    }
    let (mut even, mut odd) = halves(wave);
    fourier(&mut even);
    fourier(&mut odd);
    butterfly(wave, &even, &odd);
}

type Wave = Vec<(f64, f64)>;

#[inline(never)]
fn halves(wave: &[(f64, f64)]) -> (Wave, Wave) {
    let pairs = wave.chunks_exact(2);
    pairs.map(|pair| (pair[0], pair[1])).unzip()
}

#[inline(never)]
fn butterfly(wave: &mut [(f64, f64)], even: &[(f64, f64)], odd: &[(f64, f64)]) {
    let half = even.len();
    for at in 0..half {
        let angle = -std::f64::consts::PI * at as f64 / half as f64;
        let (sin, cos) = angle.sin_cos();
        let turned = (
            cos * odd[at].0 - sin * odd[at].1,
            cos * odd[at].1 + sin * odd[at].0,
        );
        wave[at] = (even[at].0 + turned.0, even[at].1 + turned.1);
        wave[at + half] = (even[at].0 - turned.0, even[at].1 - turned.1);
    }
}
