//! Korean particles: which endings may stand directly after a name.
//!
//! Korean writes a name and its particles as one word (민수는, 민수에게도, 지민이가). A name is meant when
//! everything after it up to the end of the word is a chain of particles, the first of which agrees
//! with the name's last syllable (은 after a consonant, 는 after a vowel), or a form of address.

/// When a particle may follow: after a final consonant, after a vowel, or after either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Consonant,
    Vowel,
    Either,
}

use After::{Consonant, Either, Vowel};

/// The particles (조사) and copula forms of the standard language, and the forms of address written together
/// with a name. Source: 국립국어원, 표준국어대사전, 조사; closed classes.
#[rustfmt::skip]
const PARTICLES: &[(&str, After)] = &[
    ("은", Consonant), ("는", Vowel), ("이", Consonant), ("가", Vowel), ("을", Consonant), ("를", Vowel),
    ("과", Consonant), ("와", Vowel), ("아", Consonant), ("야", Vowel), ("여", Vowel), ("이여", Consonant),
    ("으로", Consonant), ("로", Vowel), ("으로서", Consonant), ("로서", Vowel), ("으로써", Consonant), ("로써", Vowel),
    ("이랑", Consonant), ("랑", Vowel), ("이나", Consonant), ("나", Vowel), ("이라도", Consonant), ("라도", Vowel),
    ("이든", Consonant), ("든", Vowel), ("이며", Consonant), ("며", Vowel), ("이란", Consonant), ("란", Vowel),
    ("이라", Consonant), ("라", Vowel), ("이라고", Consonant), ("라고", Vowel), ("이라는", Consonant), ("라는", Vowel),
    ("이다", Either), ("다", Vowel), ("이었다", Consonant), ("였다", Vowel), ("입니다", Either), ("이에요", Consonant),
    ("예요", Vowel), ("이고", Either), ("인", Either), ("인가", Either), ("일", Either), ("임", Either), ("이지", Either),
    ("이야", Consonant), ("이니", Either), ("이네", Either), ("이었", Consonant), ("이던", Either), ("의", Either),
    ("에", Either), ("에게", Either), ("에게서", Either), ("에서", Either), ("께", Either), ("께서", Either),
    ("께서는", Either), ("한테", Either), ("한테서", Either), ("더러", Either), ("보고", Either), ("하고", Either),
    ("도", Either), ("만", Either), ("만큼", Either), ("까지", Either), ("부터", Either), ("처럼", Either),
    ("같이", Either), ("보다", Either), ("마저", Either), ("조차", Either), ("밖에", Either), ("뿐", Either),
    ("대로", Either), ("마다", Either), ("커녕", Either), ("에다", Either), ("들", Either), ("씨", Either),
    ("님", Either), ("군", Either), ("양", Either), ("네", Either),
];

/// Whether `rest`, the Hangul that follows a name directly, is particles to its end.
///
/// `last` is the name's last character; one that is not a Hangul syllable (a Latin name) agrees with
/// every particle. Cost: bounded, a chain has at most four parts.
pub fn follow(last: char, rest: &str) -> bool {
    let first = |after| match after {
        Either => true,
        Consonant => has_final(last).unwrap_or(true),
        Vowel => !has_final(last).unwrap_or(false),
    };
    PARTICLES.iter().any(|(particle, after)| {
        first(*after)
            && rest
                .strip_prefix(particle)
                .is_some_and(|more| chain(particle, more, 3))
    })
}

fn chain(before: &str, rest: &str, parts: u8) -> bool {
    if rest.is_empty() {
        return true;
    }
    let last = before.chars().next_back().unwrap_or(' ');
    parts > 0
        && PARTICLES.iter().any(|(particle, after)| {
            let agrees = match after {
                Either => true,
                Consonant => has_final(last) == Some(true),
                Vowel => has_final(last) == Some(false),
            };
            agrees
                && rest
                    .strip_prefix(particle)
                    .is_some_and(|more| chain(particle, more, parts - 1))
        })
}

/// Whether a Hangul syllable ends in a consonant; None for any other character.
fn has_final(syllable: char) -> Option<bool> {
    let code = syllable as u32;
    (0xAC00..0xD7A4)
        .contains(&code)
        .then(|| !(code - 0xAC00).is_multiple_of(28))
}

#[cfg(test)]
mod tests {
    use super::follow;

    #[test]
    fn particles_that_agree_with_the_last_syllable_follow_a_name() {
        for rest in [
            "는",
            "가",
            "를",
            "와",
            "의",
            "에게",
            "에게는",
            "한테도",
            "야",
            "씨는",
            "님께서는",
            "랑",
            "로부터",
            "만의",
            "들이",
            "였다",
        ] {
            assert!(follow('수', rest), "민수{rest}");
        }
        for rest in [
            "은", "이", "이가", "이는", "을", "과", "아", "이랑", "으로", "이다",
        ] {
            assert!(follow('민', rest), "지민{rest}");
        }
    }

    #[test]
    fn other_syllables_make_another_word() {
        for rest in ["은", "을", "과", "진", "기", "는다", "산에서", "가방"] {
            assert!(!follow('수', rest), "민수{rest}");
        }
    }

    #[test]
    fn a_latin_name_agrees_with_every_particle() {
        assert!(follow('m', "은") && follow('m', "는") && !follow('m', "강"));
    }
}
