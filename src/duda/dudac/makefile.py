# SPDX-License-Identifier: Apache-2.0
"""The Makefile of a service: the variables of its Makefile.in, then rules that write to a folder of dudac alone."""

RULES = """\

OBJECTS ?= $(addsuffix .o,$(basename $(patsubst ./%,%,$(filter-out %_test.c,$(wildcard ./*.c ./*.cc ./*.cpp)))))
CXXFLAGS ?= $(CFLAGS)
override DUDAC_OUT := {out}
override DUDAC_OBJECTS := $(addprefix $(DUDAC_OUT)/,$(OBJECTS))
# In place of the headers of packages that are not there; they are named, because ccache knows a command by its words.
override DUDAC_INCLUDES = {level}$(DEFS) $(INCDIR) {absent}-I$(DUDAC_OUT)/absent -I{headers}{public_too}
# A service of several files may define variables in its headers: they are one (-fcommon), unless CFLAGS says otherwise.
override DUDAC_FLAGS = {machine}-fPIC -fcommon $(CFLAGS) {compiler}$(DUDAC_INCLUDES)
override DUDAC_CXXFLAGS = {machine}-fPIC -std=gnu++17 $(CXXFLAGS) {compiler}$(DUDAC_INCLUDES)
override DUDAC_LINK := $(if $(wildcard $(OBJECTS:.o=.cc) $(OBJECTS:.o=.cpp)),$(CXX),$(CC))

.PHONY: dudac-all dudac-name dudac-tests
dudac-all: $(DUDAC_OUT)/$(NAME).duda
dudac-name:
	@echo '$(NAME)'
# A running server may have the file open: another takes its place.
$(DUDAC_OUT)/$(NAME).duda: $(DUDAC_OBJECTS)
	$(DUDAC_LINK) {machine}{linker}-shared -Wl,-Bsymbolic -o $@.fresh $(DUDAC_OBJECTS) -lc $(LDFLAGS)
	mv $@.fresh $@
$(DUDAC_OUT)/%.o: %.c $(DUDAC_OUT)/Makefile
	@mkdir -p $(@D)
	$(CC) $(DUDAC_FLAGS) -MMD -MP -c -o $@ $<
$(DUDAC_OUT)/%.o: %.cc $(DUDAC_OUT)/Makefile
	@mkdir -p $(@D)
	$(CXX) $(DUDAC_CXXFLAGS) -MMD -MP -c -o $@ $<
$(DUDAC_OUT)/%.o: %.cpp $(DUDAC_OUT)/Makefile
	@mkdir -p $(@D)
	$(CXX) $(DUDAC_CXXFLAGS) -MMD -MP -c -o $@ $<
-include $(DUDAC_OBJECTS:.o=.d)
"""

TEST_RULES = """\

override DUDAC_TESTS := $(patsubst ./%.c,$(DUDAC_OUT)/%.o,$(wildcard ./*_test.c ./*/*_test.c))
override DUDAC_RUNNER := {machine}{linker}-O1 -g -I{headers} -I{public}
dudac-tests: $(DUDAC_OUT)/tests
$(DUDAC_OUT)/tests: $(DUDAC_TESTS) {runner} {library} $(DUDAC_OUT)/Makefile
	$(CC) $(DUDAC_RUNNER) -o $@ {runner} $(DUDAC_TESTS) {library} -Wl,-rpath,{library_folder} $(LDFLAGS)
-include $(DUDAC_TESTS:.o=.d)
"""

# Kind of a build -> flags of the compiler and of the linker, whatever CFLAGS and LDFLAGS have.
KINDS = {
    "plain": ("-g -funwind-tables ", ""),
    "release": ("-O2 -DNDEBUG ", ""),
    "asan": ("-g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all ", "-fsanitize=address,undefined "),
}


def escaped(path):
    return str(path).replace(" ", "\\ ")


def text(variables, out, headers, level=None, is_32_bit=False, kind="plain", testing=None, absent=()):
    """
    What make reads, started in the folder of the service.
    variables: the text of Makefile.in; out: an existing folder without blanks in its name; level: None leaves it to the sources.
    testing: places.Testing, for the goal dudac-tests. absent: packages that are not there, whose headers are in the folder of that name.
    """
    compiler, linker = KINDS[kind]
    words = {"out": out, "headers": escaped(headers), "level": f"-DDUDA_API_LEVEL={level} " if level else "",
             "public_too": f" -I{escaped(testing.headers)}" if testing else "",
             "machine": "-m32 " if is_32_bit else "", "compiler": compiler, "linker": linker,
             "absent": f"-DDUDAC_ABSENT={'.'.join(absent)} " if absent else ""}
    rules = RULES.format(**words)
    if testing:
        rules += TEST_RULES.format(**words, runner=escaped(testing.runner), library=escaped(testing.library), public=escaped(testing.headers),
                                   library_folder=escaped(testing.library.parent))
    return ".DEFAULT_GOAL := dudac-all\n" + variables + rules
