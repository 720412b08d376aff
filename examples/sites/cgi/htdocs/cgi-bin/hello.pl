#!/usr/bin/perl -T
# SPDX-License-Identifier: Apache-2.0
# apt install libcgi-pm-perl
use strict;
use warnings;
use CGI;

my $q = CGI->new;
my $name = $q->escapeHTML($q->param('name') || 'nobody');
my $path = $q->escapeHTML($q->path_info);
print $q->header(-charset => 'utf-8'), "<!DOCTYPE html>\n<title>Hello</title>\n<p>$path greets $name.\n";
