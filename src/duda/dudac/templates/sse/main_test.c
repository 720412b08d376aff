#include "duda_test.h"

/* The clock itself never ends its answer, so a test cannot wait for it. */
TEST(has_a_page)
{
    EXPECT(strstr(GET("/@NAME@/")->body, "EventSource"));
}
