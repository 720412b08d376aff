# SPDX-License-Identifier: Apache-2.0
"""The Makefile of a service: the variables of its Makefile.in, then rules that write to a folder of dudac alone."""

RULES = """\

OBJECTS ?= $(patsubst ./%.c,%.o,$(wildcard ./*.c))
override DUDAC_OUT := {out}
override DUDAC_OBJECTS := $(addprefix $(DUDAC_OUT)/,$(OBJECTS))
# A service of several files may define variables in its headers: they are one (-fcommon), unless CFLAGS says otherwise.
override DUDAC_FLAGS = {machine}-fPIC -fcommon $(CFLAGS) {release}{level}$(DEFS) $(INCDIR) -I{headers}

.PHONY: dudac-all dudac-name
dudac-all: $(DUDAC_OUT)/$(NAME).duda
dudac-name:
	@echo '$(NAME)'
# A running server may have the file open: another takes its place.
$(DUDAC_OUT)/$(NAME).duda: $(DUDAC_OBJECTS)
	$(CC) {machine}-shared -Wl,-Bsymbolic -o $@.fresh $(DUDAC_OBJECTS) -lc $(LDFLAGS)
	mv $@.fresh $@
$(DUDAC_OUT)/%.o: %.c $(DUDAC_OUT)/Makefile
	@mkdir -p $(@D)
	$(CC) $(DUDAC_FLAGS) -MMD -MP -c -o $@ $<
-include $(DUDAC_OBJECTS:.o=.d)
"""


def text(variables, out, headers, level=None, is_32_bit=False, is_release=False):
    """
    What make reads, started in the folder of the service.
    variables: the text of Makefile.in; out: an existing folder without blanks in its name; level: None leaves it to the sources.
    is_release: optimised and without assertions, whatever CFLAGS has.
    """
    rules = RULES.format(out=out, headers=str(headers).replace(" ", "\\ "),
                         level=f"-DDUDA_API_LEVEL={level} " if level else "", machine="-m32 " if is_32_bit else "", release="-O2 -DNDEBUG " if is_release else "")
    return ".DEFAULT_GOAL := dudac-all\n" + variables + rules
