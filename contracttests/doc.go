// Package contracttests holds the emulator to what its clients see: the real
// SDKs call every action, golden files keep the bytes of the replies, the flows
// of a cloud controller manager run call by call, and every claim about the
// cloud that the code cites has an entry that says how it is known.
//
// It has tests alone. Nothing imports it, and what it imports, the SDKs of
// Alibaba Cloud among it, never reaches the binary.
package contracttests
