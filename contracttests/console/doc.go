// Package console tries the console in a real browser: what its pages show and do, by
// mouse and keyboard, in both colours, and what they must not let through. It owns the
// pictures of the documentation too.
//
// It is skipped without a browser, unless CLBEMU_CHROMIUM is set.
package console
