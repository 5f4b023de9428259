// Package contracttests tests the emulator as its clients see it: the real SDKs
// call every action, golden files keep the bytes of the replies, the flows of a
// Cloud Controller Manager run call by call, and every claim about the cloud that
// the code cites has an entry with its source.
//
// It only has tests. Nothing imports it, and its imports, such as the SDKs of
// Alibaba Cloud, never reach the binary.
package contracttests
