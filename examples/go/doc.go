// Package example is a controller of ten lines and its test against clbemu: copy it to
// begin with.
package example
