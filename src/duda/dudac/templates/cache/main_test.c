#include "duda_test.h"

/* They pass with and without a server of Redis. */

TEST(counts_primes)
{
    EXPECT_TEXT(GET("/@NAME@/primes/0")->body, "0\n");
    EXPECT_TEXT(GET("/@NAME@/primes/2")->body, "1\n");
    EXPECT_TEXT(GET("/@NAME@/primes/10")->body, "4\n");
    EXPECT_TEXT(GET("/@NAME@/primes/1000000")->body, "78498\n");
}

TEST(refuses_what_takes_too_long)
{
    EXPECT(GET("/@NAME@/primes/20000001")->status == 400);
    EXPECT(GET("/@NAME@/primes/many")->status == 404);
}
