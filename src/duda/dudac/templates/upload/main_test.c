#include "duda_test.h"

/* The folder of data is a copy, for each test. */
TEST(keeps_a_file)
{
    EXPECT(PUT("/@NAME@/files/a.txt", "text")->status == 201);
    EXPECT_TEXT(GET("/@NAME@/files/a.txt")->body, "text");
}

TEST(has_no_file_at_first)
{
    EXPECT_TEXT(GET("/@NAME@/files")->body, "");
}

TEST(refuses_hidden_files)
{
    EXPECT(PUT("/@NAME@/files/.hidden", "text")->status == 400);
}
