// SPDX-License-Identifier: Apache-2.0
// Compiled with -finstrument-functions: C++'s names, and functions that exceptions leave.
#include <stdexcept>
#include <string>

#define OWN __attribute__((noinline))

static volatile int sum;

namespace shop
{

template <class Price> OWN static Price twice(Price price)
{
    sum = sum + 1;
    return price + price;
}

class Cart
{
  public:
    OWN void add(int price)
    {
        sum = sum + twice(price);
    }
    OWN void add(double price)
    {
        sum = sum + static_cast<int>(twice(price));
    }
};

}  // namespace shop

OWN static void thrower(int depth)
{
    if (depth == 0) {
        throw std::runtime_error("thrown");
    }
    thrower(depth - 1);
    sum = sum + 1;
}

OWN static int caught(int depth)
{
    try {
        thrower(depth);
    } catch (const std::exception &) {
        return 1;
    }
    return 0;
}

OWN static void plain()
{
    shop::Cart cart;
    for (int i = 0; i < 20; i++) {
        cart.add(i);
        cart.add(i + 0.5);
    }
}

OWN static void exceptions()
{
    int times = 0;
    for (int i = 0; i < 10; i++) {
        times += caught(4);
    }
    plain();
    if (times != 10) {
        throw std::logic_error("not caught");
    }
}

int main(int, char **arguments)
{
    if (std::string(arguments[1]) == "plain") {
        plain();
    } else {
        exceptions();
    }
}
