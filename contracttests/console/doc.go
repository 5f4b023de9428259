// Package console tests the console in a real browser: what its pages show and do, by
// mouse and keyboard, in both colour schemes, and that they are safe. It also takes the
// pictures of the documentation, whose site it tests in the same browser.
//
// It is skipped without a browser, unless CLBEMU_CHROMIUM is set.
package console
