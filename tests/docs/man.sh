#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages are sound, and every routine has one.
exec "$(dirname "$0")/../../docs/man/check.sh"
