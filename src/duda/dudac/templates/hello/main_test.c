#include "duda_test.h"

TEST(greets_by_name)
{
    EXPECT_TEXT(GET("/@NAME@/greet?name=Ann")->body, "Hello, Ann!\n");
}

TEST(greets_the_world)
{
    EXPECT_TEXT(GET("/@NAME@/greet")->body, "Hello, world!\n");
}

TEST(has_a_page)
{
    EXPECT(GET("/@NAME@/")->status == 200);
}
