package faults

import "time"

// Refuse refuses connections.
type Refuse bool

func (Refuse) problem() (p Problem, found bool) { return p, false }

func (Refuse) applyPackets(p Packets) { p.Refuse() }

// Cut resets a connection after a number of bytes of the answer.
type Cut struct {
	Bytes int `yaml:"bytes" required:"true" doc:"So many bytes of the answer pass."`
}

func (c Cut) problem() (p Problem, found bool) { return wrong("bytes", "it is negative"), c.Bytes < 0 }

func (c Cut) applyPackets(p Packets) { p.Cut(int64(c.Bytes)) }

// Stall keeps back what follows a number of bytes of the answer.
type Stall struct {
	Bytes int `yaml:"bytes,omitempty" doc:"So many bytes of the answer pass; 0 if absent."`
}

func (s Stall) problem() (p Problem, found bool) {
	return wrong("bytes", "it is negative"), s.Bytes < 0
}

func (s Stall) applyPackets(p Packets) { p.Stall(int64(s.Bytes)) }

// Slow delays and limits a connection.
type Slow struct {
	Delay          Duration `yaml:"delay,omitempty" doc:"How much later the first byte passes, in real time; UDP has no delay."`
	BytesPerSecond int      `yaml:"bytesPerSecond,omitempty" doc:"So many bytes pass in a second, each way."`
}

func (s Slow) problem() (p Problem, found bool) {
	return wrong("", "give delay, bytesPerSecond or both, and more than 0 of it"), s.BytesPerSecond < 0 || s.Delay == 0 && s.BytesPerSecond == 0
}

func (s Slow) applyPackets(p Packets) { p.Slow(time.Duration(s.Delay), s.BytesPerSecond) }

// Flap refuses by turns, beginning when the rule does.
type Flap struct {
	Down Duration `yaml:"down" required:"true" doc:"How long it refuses, which it does first, in emulated time."`
	Up   Duration `yaml:"up" required:"true" doc:"How long it works then."`
}

func (f Flap) problem() (p Problem, found bool) {
	return wrong("", "give down and up, and more than 0 of both"), f.Down <= 0 || f.Up <= 0
}

func (Flap) applyPackets(p Packets) { p.Refuse() }

func (f Flap) applies(_ *allowance, age time.Duration, _ time.Time) bool {
	return age%time.Duration(f.Down+f.Up) < time.Duration(f.Down)
}

// Deaf lets a listener take no packet. It afflicts nothing: what is dropped has no
// connection.
type Deaf bool

func (Deaf) problem() (p Problem, found bool) { return p, false }

func (Deaf) applyPackets(Packets) {}
