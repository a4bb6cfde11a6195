// merge.hpp: sums at the ends of the range, where shifts and counts could leave theirs.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "surelearn/merge.hpp"

namespace surelearn::tests {

namespace merging {

/// A sum with its own memory.
template <std::size_t D>
struct Own {
    std::array<std::int64_t, D> digits{};
    std::int8_t top = Sum::empty;

    void set(double x) { Sum{digits, top}.set(x); }
    void add(const Own& other, std::int64_t times = 1) {
        Sum{digits, top}.add(other.digits, other.top, times);
    }
    [[nodiscard]] double value() const { return Sum::value(digits, top); }
    [[nodiscard]] bool operator==(const Own&) const = default;
};

constexpr double least = std::numeric_limits<double>::denorm_min();
constexpr std::array numbers{0.0,
                             1.0,
                             -1.0,
                             least,
                             -least,
                             std::numeric_limits<double>::min(),
                             std::numeric_limits<double>::max() / 4,
                             1e300,
                             -1.1e-9,
                             1e-17,
                             0x1p40,
                             0x1p-40,
                             0x1p39,
                             0x1.fffffp39,
                             1e-300,
                             3.0,
                             7e44,
                             -0x1p1021,
                             0x1.8p-1040};

template <std::size_t D>
void add_up() {
    for (const double a : numbers) {
        for (const double b : numbers) {
            for (const double c : numbers) {
                Own<D> x, y, z;
                x.set(a);
                y.set(b);
                z.set(c);
                Own<D> left = x, right = y;
                left.add(y);
                left.add(z);
                right.add(z);
                right.add(x);
                CHECK(left == right);
                CHECK(std::isfinite(left.value()));
            }
        }
    }
}

}  // namespace merging

inline void sums_do_not_depend_on_grouping() {
    merging::add_up<2>();
    merging::add_up<3>();
}

/// Sums in registers have the digits of those in memory.
inline void short_sums_have_the_same_digits() {
    for (const double a : merging::numbers) {
        for (const double b : merging::numbers) {
            for (const double c : merging::numbers) {
                merging::Own<2> expected;
                ShortSum found;
                for (const double x : {a, b, c}) {
                    merging::Own<2> term;
                    term.set(x);
                    expected.add(term);
                    found.add(ShortSum::of(x));
                }
                CHECK((expected == merging::Own<2>{{found.high, found.low},
                                                   static_cast<std::int8_t>(found.top)}));
                CHECK(found.value() == expected.value());
            }
        }
    }
}

/// Three digits hold a double whole; two all but its last bits.
inline void a_sum_of_one_is_that_number() {
    for (const double x : merging::numbers) {
        merging::Own<3> three;
        merging::Own<2> two;
        three.set(x);
        two.set(x);
        CHECK(three.value() == x);
        CHECK_AT_MOST(std::fabs(two.value() - x), std::fabs(x) * 0x1p-40);
    }
}

inline void sums_have_room_for_all_their_terms() {
    const double most = std::nextafter(0x1p40, 0.0);  // the first digit is all ones
    merging::Own<3> term, total;
    term.set(most);
    total.add(term, std::int64_t{1} << 22);
    CHECK(total.value() == std::ldexp(most, 22));
    merging::Own<3> less;
    less.set(-most);
    total.add(less, std::int64_t{1} << 22);
    CHECK(total.value() == 0.0);
}

inline void matrices_without_inverse_are_told() {
    std::vector<double> zero(4, 0.0);
    CHECK(!(Symmetric{zero, 2}.factor()));
    std::vector<double> nan(4, std::numeric_limits<double>::quiet_NaN());
    CHECK(!(Symmetric{nan, 2}.factor()));
    std::vector<double> none;
    CHECK((Symmetric{none, 0}.factor()));
}

inline constexpr std::array merge_tests{
    Test{"sums do not depend on grouping", sums_do_not_depend_on_grouping},
    Test{"short sums have the same digits", short_sums_have_the_same_digits},
    Test{"a sum of one is that number", a_sum_of_one_is_that_number},
    Test{"sums have room for all their terms", sums_have_room_for_all_their_terms},
    Test{"matrices without inverse are told", matrices_without_inverse_are_told},
};

}  // namespace surelearn::tests
