// Word forms: what templates make of one word. Knows letters of ASCII only; Python makes
// the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace surelearn {

/// Something that is made of a word.
struct WordForm {
    enum class Kind : std::uint8_t { prefix, suffix, lower, shape, capital, capitals, digits };

    Kind kind = Kind::prefix;
    std::size_t size = 0;  ///< of a prefix or suffix, in characters
};

namespace word_forms {

[[nodiscard]] inline bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] inline bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
[[nodiscard]] inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] inline bool is_ascii(std::string_view word) noexcept {
    return std::ranges::all_of(word, [](char c) { return (c & 0x80) == 0; });
}
/// Whether a byte of UTF-8 begins a character.
[[nodiscard]] inline bool begins(char c) noexcept { return (c & 0xc0) != 0x80; }

inline void keep_first(std::string& word, std::size_t n) {
    std::size_t end = 0;
    // Up to where character n + 1 begins.
    while (end < word.size() && (!begins(word[end]) || n-- > 0)) ++end;
    word.resize(end);
}

inline void keep_last(std::string& word, std::size_t n) {
    std::size_t begin = word.size();
    while (begin > 0 && n > 0) n -= begins(word[--begin]) ? 1 : 0;
    word.erase(0, begin);
}

/// The shape of a word; a sign that comes more than four times in a row is written four times.
inline void shape(std::string& word) {
    std::string signs;
    std::size_t run = 0;
    for (const char c : word) {
        const char sign = is_upper(c) ? 'X' : is_lower(c) ? 'x' : is_digit(c) ? 'd' : c;
        run = !signs.empty() && signs.back() == sign ? run + 1 : 1;
        if (run <= 4) signs += sign;
    }
    word = std::move(signs);
}

inline void lower(std::string& word) {
    for (char& c : word) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace word_forms

/// Whether `apply` can take this step for this word.
[[nodiscard]] inline bool applies(const WordForm& step, std::string_view word) noexcept {
    using enum WordForm::Kind;
    return step.kind == prefix || step.kind == suffix || word_forms::is_ascii(word);
}

/// Makes of a word what a step says.
inline void apply(const WordForm& step, std::string& word) {
    using namespace word_forms;
    const auto say = [&](bool yes) { word = yes ? "1" : "0"; };
    switch (step.kind) {
        case WordForm::Kind::prefix:
            return keep_first(word, step.size);
        case WordForm::Kind::suffix:
            return keep_last(word, step.size);
        case WordForm::Kind::lower:
            return lower(word);
        case WordForm::Kind::shape:
            return shape(word);
        case WordForm::Kind::capital:
            return say(!word.empty() && is_upper(word[0]));
        case WordForm::Kind::capitals:
            return say(std::ranges::any_of(word, is_upper) && std::ranges::none_of(word, is_lower));
        case WordForm::Kind::digits:
            return say(!word.empty() && std::ranges::all_of(word, word_forms::is_digit));
    }
}

/// Makes of a word what all steps say; false if one cannot.
[[nodiscard]] inline bool apply_all(std::span<const WordForm> steps, std::string& word) {
    for (const WordForm& step : steps) {
        if (!applies(step, word)) return false;
        apply(step, word);
    }
    return true;
}

}  // namespace surelearn
