// Hashing: bytes to a number, a number to a feature. Knows no text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace surelearn {

/// Bytes that must be readable after every text that is hashed; their contents do not matter.
inline constexpr std::size_t hash_padding = 16;

/// MurmurHash3 x86 32 with seed 0 (Austin Appleby), signed as in scikit-learn.
[[nodiscard]] inline std::int32_t murmur3(const char* text, std::size_t n) noexcept {
    constexpr std::uint32_t c1 = 0xcc9e2d51;
    constexpr std::uint32_t c2 = 0x1b873593;
    const auto word = [&](std::size_t at) {
        std::uint32_t k = 0;
        std::memcpy(&k, text + at, sizeof k);
        return k;
    };
    const auto mixed = [&](std::uint32_t h, std::size_t at) {
        return std::rotl(h ^ (std::rotl(word(at) * c1, 15) * c2), 13) * 5 + 0xe6546b64;
    };
    // Nearly all tokens are shorter than sixteen bytes, of unpredictable length. So compute all
    // that such a token could need without a branch, and keep what applies.
    const std::size_t whole = n & ~std::size_t{3};
    std::uint32_t h = 0;
    for (std::size_t at = 0; at < 12; at += 4) {
        const std::uint32_t has = 0U - static_cast<std::uint32_t>(whole > at);
        h ^= (h ^ mixed(h, at)) & has;
    }
    for (std::size_t at = 12; at < whole; at += 4) h = mixed(h, at);
    // The last, incomplete word; the mask cuts off the bytes behind it.
    const std::uint32_t kept = (std::uint32_t{1} << (8 * (n & 3))) - 1;
    h ^= std::rotl((word(whole) & kept) * c1, 15) * c2;
    h ^= static_cast<std::uint32_t>(n);
    h = (h ^ (h >> 16)) * 0x85ebca6b;
    h = (h ^ (h >> 13)) * 0xc2b2ae35;
    return static_cast<std::int32_t>(h ^ (h >> 16));
}

/// The feature of a hash: |h| mod n, where |-2^31| is 2^31.
[[nodiscard]] inline std::uint32_t bucket(std::int32_t h, std::uint32_t n_features) noexcept {
    const auto u = static_cast<std::uint32_t>(h);
    const std::uint32_t size = h < 0 ? 0U - u : u;
    const bool power_of_two = (n_features & (n_features - 1)) == 0;
    return power_of_two ? size & (n_features - 1) : size % n_features;
}

}  // namespace surelearn
