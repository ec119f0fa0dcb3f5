//! Names of hostile programs stay text in every output.

use crate::views::{Stacks, hostile_names, stored_build, view_of};
use crate::words::WORDS;
use quick_xml::Reader;
use quick_xml::events::Event;
use sto_core::model::{Frame, FrameKind};
use sto_core::units::{Cost, SampleType, Unit};
use sto_query::internal::listing::list_builds;
use sto_query::internal::tree::{Listed, call_tree, top};
use sto_query::questions::{Order, Prune};
use sto_query::render::flame::{self, FlameOptions, Palette, Widths};
use sto_query::render::{self};
use sto_query::results::View;
use sto_query::text::Style;

const TERMINAL: Style = Style {
    width: Some(80),
    colors: None,
    full_names: false,
    words: WORDS,
};

/// A view in which all names are hostile.
fn hostile() -> View {
    let cost = Cost {
        samples: 10,
        value: 10,
    };
    let stacks: Stacks = hostile_names()
        .into_iter()
        .flat_map(|name| {
            let frame = Frame {
                module: name,
                symbol: name,
                kind: FrameKind::User,
                file: name,
                line: 0,
            };
            let unresolved = Frame {
                kind: FrameKind::Unresolved,
                ..frame
            };
            let kernel = Frame {
                kind: FrameKind::Kernel,
                ..frame
            };
            [(vec![frame], cost), (vec![frame, kernel, unresolved], cost)]
        })
        .collect();
    let event = SampleType {
        event: "\x1b[31mcycles\n".to_owned(),
        unit: Unit::Events,
    };
    view_of("v\x1b[2J<b>1</b>\n", &[vec![(event, &stacks)]])
}

fn assert_plain(text: &str) {
    let hidden = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert_eq!(text.chars().find(|c| hidden(*c)), None);
}

#[test]
fn text_has_no_control_characters_and_one_line_per_row() {
    let view = hostile();
    let functions = top(&view, 0, Order::SelfCost, &Listed::default());
    let tree = call_tree(
        &view,
        0,
        &with!(Prune {
            min_share: 0.0,
            max_depth: 9,
        }),
    )
    .unfolded();
    let rows = |text: &str| {
        text.lines()
            .skip_while(|line| !line.is_empty())
            .skip(2)
            .count()
    };
    for style in [TERMINAL, crate::words::plain()] {
        let text = render::top::text(&functions, style);
        assert_plain(&text);
        assert_eq!(rows(&text), functions.functions.len());
        let text = render::tree::text(&tree, style);
        assert_plain(&text);
        assert_eq!(rows(&text), tree.nodes.len());
    }
    let mut build = stored_build("\x1b[31mdemo", "\u{202e}v1", &[], &[1]);
    build.build.revision = Some("r\n2".to_owned());
    let profile = &mut build.profiles[0].profile;
    profile.benchmark = Some("\x07".to_owned());
    profile.labels.insert("a\x1b".to_owned(), "b\r".to_owned());
    assert_plain(&render::ls::text(&list_builds(&[build], None), TERMINAL));
}

#[test]
fn json_has_unchanged_names() {
    let json =
        sto_query::results::json(&top(&hostile(), 0, Order::SelfCost, &Listed::default())).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    let functions = parsed["functions"].as_array().unwrap();
    for name in hostile_names() {
        assert!(
            functions
                .iter()
                .any(|f| f["function"] == name && f["module"] == name),
            "{name:?}"
        );
    }
}

/// Parses a document, which must be well-formed. Returns the names of all elements, and all text.
fn parse(svg: &[u8]) -> (Vec<String>, String) {
    let svg = std::str::from_utf8(svg).unwrap();
    let legal = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
    assert!(
        svg.chars()
            .all(|c| legal(c) && !matches!(c, '\u{fffe}' | '\u{ffff}'))
    );
    let mut reader = Reader::from_str(svg);
    let (mut elements, mut text) = (Vec::new(), String::new());
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                depth += 1;
                elements.push(String::from_utf8(start.name().as_ref().to_vec()).unwrap());
                start
                    .attributes()
                    .for_each(|attribute| drop(attribute.unwrap()));
            }
            Event::Empty(start) => start.attributes().for_each(|a| drop(a.unwrap())),
            Event::End(_) => depth -= 1,
            Event::Text(part) => text.push_str(&part.decode().unwrap()),
            Event::GeneralRef(entity) => text.push(match &*entity.decode().unwrap() {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                other => panic!("unexpected entity {other}"),
            }),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    (elements, text)
}

#[test]
fn svg_is_well_formed_and_shows_names_as_text() {
    let view = hostile();
    let mut pictures = Vec::new();
    for palette in [Palette::Standard, Palette::Colorblind] {
        for inverted in [false, true] {
            let options = FlameOptions {
                palette,
                inverted,
                ..FlameOptions::default()
            };
            let one = flame::svg((&view, 0), &options);
            let sides = ((&view, 0), (&view, 0));
            let two = flame::diff_svg(sides.0, sides.1, Widths::Candidate, &options);
            pictures.extend([one.unwrap(), two.unwrap()]);
        }
    }
    for picture in pictures {
        let (elements, text) = parse(picture.as_bytes());
        let scripts = elements.iter().filter(|name| *name == "script").count();
        assert_eq!(scripts, 1, "the graph's own");
        let known = ["svg", "style", "script", "text", "rect", "g", "title"];
        for element in elements {
            assert!(known.contains(&&*element), "{element}");
        }
        for shown in [
            "<script>alert(1)</script> (",
            "\"; DROP TABLE nodes; -- (",
            "\\u{1b}]0;owned\\u{7}\\u{1b}[31mred (",
            "\\u{202e}gnp.exe (",
            "# comment (",
            "ends in 12 34 (",
            "a;b (",
        ] {
            assert!(text.contains(shown), "{shown}");
        }
    }
}
