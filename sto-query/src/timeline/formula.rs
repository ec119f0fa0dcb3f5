//! Metrics computed from others, such as `ipc = instructions / cycles`.

use crate::text::printable;

/// Maximum nesting of parentheses and signs.
const MAX_DEPTH: usize = 64;

/// A metric computed from others by addition, subtraction, multiplication and division.
///
/// A name of letters, digits, `_`, `.` and `:` that begins with a letter or `_` is written without quotes, any other
/// in `"`. The formula is evaluated for each slice. The result is missing if an operand is, or if it is not finite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formula {
    /// Name of the computed metric.
    pub name: String,
    expression: Expression,
}

/// Syntax error in a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`, character {at}: expected {expected}, found {}", printable(.text), printable(.found))]
#[non_exhaustive]
pub struct FormulaError {
    /// The formula.
    pub text: String,
    /// Position of the unexpected character, from 1.
    pub at: usize,
    /// Expected text.
    pub expected: &'static str,
    /// Unexpected text.
    pub found: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Number(f64),
    Name(String),
    Negative(Box<Expression>),
    Operation(Box<Expression>, Operator, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

impl Formula {
    /// Parses `NAME = EXPRESSION`. Returns `None` if the text does not begin with such a name and `=`, in which case
    /// it is the name of a metric.
    ///
    /// # Errors
    ///
    /// Returns an error if the right-hand side is not an expression.
    pub(crate) fn parse(text: &str) -> Option<Result<Formula, FormulaError>> {
        let (name, _) = text.split_once('=')?;
        let is_name = |c: char| c.is_alphanumeric() || "_.-".contains(c);
        let trimmed = name.trim();
        if !trimmed.starts_with(|c: char| c.is_alphabetic() || c == '_')
            || !trimmed.chars().all(is_name)
        {
            return None;
        }
        let mut reader = Reader {
            text,
            at: name.len() + 1,
            depth: 0,
        };
        let expression = reader.sum().and_then(|expression| match reader.peek() {
            None => Ok(expression),
            Some(_) => Err(reader.wrong("an operator or the end")),
        });
        Some(expression.map(|expression| Formula {
            name: trimmed.to_owned(),
            expression,
        }))
    }

    /// Returns the metrics in the formula, in order of appearance.
    pub(crate) fn parts(&self) -> Vec<&str> {
        let mut parts = Vec::new();
        self.expression.add_parts(&mut parts);
        parts
    }

    /// Computes the values by slice, where `series` returns the values of a metric.
    ///
    /// # Errors
    ///
    /// Returns the errors of `series`.
    pub(super) fn evaluate<E>(
        &self,
        slices: usize,
        series: &mut impl FnMut(&str) -> Result<Vec<f64>, E>,
    ) -> Result<Vec<f64>, E> {
        let mut values = self.expression.evaluate(slices, series)?;
        let none = values.iter_mut().filter(|value| !value.is_finite());
        none.for_each(|value| *value = f64::NAN);
        Ok(values)
    }
}

impl Expression {
    fn add_parts<'a>(&'a self, parts: &mut Vec<&'a str>) {
        match self {
            Expression::Number(_) => {}
            Expression::Name(name) => parts.push(name),
            Expression::Negative(of) => of.add_parts(parts),
            Expression::Operation(left, _, right) => {
                left.add_parts(parts);
                right.add_parts(parts);
            }
        }
    }

    fn evaluate<E>(
        &self,
        slices: usize,
        series: &mut impl FnMut(&str) -> Result<Vec<f64>, E>,
    ) -> Result<Vec<f64>, E> {
        Ok(match self {
            Expression::Number(number) => vec![*number; slices],
            Expression::Name(name) => series(name)?,
            Expression::Negative(of) => {
                let values = of.evaluate(slices, series)?;
                values.into_iter().map(|value| -value).collect()
            }
            Expression::Operation(left, operator, right) => {
                let left = left.evaluate(slices, series)?;
                let right = right.evaluate(slices, series)?;
                let pairs = left.into_iter().zip(right);
                pairs.map(|(a, b)| operator.apply(a, b)).collect()
            }
        })
    }
}

impl Operator {
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Operator::Plus => a + b,
            Operator::Minus => a - b,
            Operator::Times => a * b,
            Operator::Over => a / b,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Position in bytes.
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the next character after whitespace.
    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    /// Reads one of these operators, if it is next.
    fn operator(&mut self, operators: &[(char, Operator)]) -> Option<Operator> {
        let next = self.peek()?;
        let &(_, operator) = operators.iter().find(|(sign, _)| *sign == next)?;
        self.at += next.len_utf8();
        Some(operator)
    }

    fn sum(&mut self) -> Result<Expression, FormulaError> {
        const SIGNS: [(char, Operator); 2] = [('+', Operator::Plus), ('-', Operator::Minus)];
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&SIGNS) {
            left = Expression::Operation(left.into(), operator, self.product()?.into());
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, FormulaError> {
        const SIGNS: [(char, Operator); 2] = [('*', Operator::Times), ('/', Operator::Over)];
        let mut left = self.operand()?;
        while let Some(operator) = self.operator(&SIGNS) {
            left = Expression::Operation(left.into(), operator, self.operand()?.into());
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, FormulaError> {
        const OPERAND: &str = "a metric, a number or `(`";
        let next = self.peek().ok_or_else(|| self.wrong(OPERAND))?;
        if self.depth == MAX_DEPTH {
            return Err(self.wrong("fewer levels of parentheses"));
        }
        match next {
            '(' => {
                self.at += 1;
                self.depth += 1;
                let inner = self.sum()?;
                self.depth -= 1;
                match self.peek() {
                    Some(')') => self.at += 1,
                    _ => return Err(self.wrong("an operator or `)`")),
                }
                Ok(inner)
            }
            '-' => {
                self.at += 1;
                self.depth += 1;
                let of = self.operand()?;
                self.depth -= 1;
                Ok(Expression::Negative(of.into()))
            }
            '"' => {
                let (name, _) = self.rest()[1..]
                    .split_once('"')
                    .ok_or_else(|| self.wrong("a closing `\"`"))?;
                self.at += name.len() + 2;
                Ok(Expression::Name(name.to_owned()))
            }
            next if next.is_alphabetic() || next == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || "_.:".contains(c);
                let name = self.take(is_part);
                Ok(Expression::Name(name.to_owned()))
            }
            next if next.is_ascii_digit() || next == '.' => {
                let begin = self.at;
                let mut number = self.take(|c| c.is_ascii_digit() || c == '.').to_owned();
                if self.rest().starts_with(['e', 'E']) {
                    self.at += 1;
                    number.push('e');
                    if self.rest().starts_with(['+', '-']) {
                        number.push_str(&self.rest()[..1]);
                        self.at += 1;
                    }
                    number += self.take(|c| c.is_ascii_digit());
                }
                let number = number
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite());
                number.map(Expression::Number).ok_or_else(|| {
                    self.at = begin;
                    self.wrong("a number")
                })
            }
            _ => Err(self.wrong(OPERAND)),
        }
    }

    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn wrong(&self, expected: &'static str) -> FormulaError {
        FormulaError {
            text: self.text.to_owned(),
            at: self.text[..self.at].chars().count() + 1,
            expected,
            found: match self.rest().chars().next() {
                Some(found) => format!("`{found}`"),
                None => "the end".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, FormulaError> {
        let formula = Formula::parse(text).expect("it is a formula")?;
        let metric = |name: &str| -> Result<Vec<f64>, FormulaError> {
            Ok(vec![match name {
                "a" => 6.0,
                "b" => 4.0,
                "zero" => 0.0,
                "event:cpu-clock" | "self:Parser::next" => 2.0,
                "missing" => f64::NAN,
                name => panic!("no metric {name}"),
            }])
        };
        Ok(formula.evaluate(1, &mut { metric })?[0])
    }

    #[test]
    fn operators_have_usual_precedence() {
        for (text, expected) in [
            ("x=a-b-1", 1.0),
            ("x = a + b * 2", 14.0),
            ("x = (a + b) * 2", 20.0),
            ("x = a / b / 2", 0.75),
            ("x = -a + -(-b)", -2.0),
            ("x = 1.5e3 - .5", 1499.5),
            ("x = 2E-1 * a", 1.2),
            ("x = a / \"event:cpu-clock\" - self:Parser::next", 1.0),
            ("cycles-per-instruction = b", 4.0),
        ] {
            let found = value(text).expect("it can be read");
            assert!((found - expected).abs() < 1e-12, "{text}: {found}");
        }
        assert_eq!(Formula::parse("a = b").unwrap().unwrap().name, "a");
    }

    #[test]
    fn missing_operands_give_missing_results() {
        for text in [
            "x = a / zero",
            "x = zero / zero",
            "x = a + missing",
            "x = missing * 0",
        ] {
            assert!(value(text).expect("it can be read").is_nan(), "{text}");
        }
    }

    #[test]
    fn names_of_metrics_are_not_formulas() {
        for text in ["a", "label:K=V", "2 = a", "= a", "self:operator=="] {
            assert_eq!(Formula::parse(text), None, "{text}");
        }
    }

    #[test]
    fn errors_have_position_and_expected_text() {
        for (text, at, expected, found) in [
            ("x = a / / b", 9, "a metric, a number or `(`", "`/`"),
            ("x =", 4, "a metric, a number or `(`", "the end"),
            ("ä = (a + b", 11, "an operator or `)`", "the end"),
            ("x = a b", 7, "an operator or the end", "`b`"),
            ("x = \"a", 5, "a closing `\"`", "`\"`"),
            ("x = 1.2.3", 5, "a number", "`1`"),
            ("x = 1e999", 5, "a number", "`1`"),
        ] {
            let error = value(text).expect_err(text);
            assert_eq!(
                (error.at, error.expected, &*error.found),
                (at, expected, found),
                "{text}"
            );
        }
        let deep = format!("x = {}1", "(".repeat(100_000));
        assert_eq!(value(&deep).expect_err("it is too deep").at, 5 + MAX_DEPTH);
        let signs = format!("x = {}1", "-".repeat(100_000));
        assert!(value(&signs).is_err());
    }
}
