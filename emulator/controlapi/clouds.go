package controlapi

import "time"

// DefaultCloud is the name of the cloud that is there from the start.
const DefaultCloud = "default"

// NewCloud describes a cloud to fork.
type NewCloud struct {
	// From is the cloud that it begins as. If empty, that is the cloud in whose path the call is,
	// or else the default one.
	From string `json:"from,omitempty"`
	// Expires says when it is deleted: a duration such as 2h, a time such as
	// 2026-01-02T15:04:05Z, or never; "" is after 24 hours.
	Expires string `json:"expires,omitempty"`
	// Durable keeps it over restarts, in the data folder, or in etcd with the state of
	// replicas.
	Durable bool `json:"durable,omitempty"`
	// Seed makes its ids. If it is 0, the seed follows from its name.
	Seed uint64 `json:"seed,omitempty"`
	// Port gives its API its own port, but for clouds of replicas.
	Port bool `json:"port,omitempty"`
}

// Cloud is a cloud of a running emulator.
type Cloud struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"`
	// Created is in real time, as Expires.
	Created *time.Time `json:"created,omitempty"`
	// Expires is the time at which it is deleted. It is absent if it never is.
	Expires *time.Time `json:"expires,omitempty"`
	Durable bool       `json:"durable,omitempty"`
	Seed    uint64     `json:"seed,omitempty"`
	// API is the URL of the cloud's own port, or else of the port of all clouds.
	API string `json:"api,omitempty"`
	// DNS is host:port of its DNS server, or "" if it has none.
	DNS string `json:"dns,omitempty"`
	// Host is the host name that reaches it at the address of all clouds, or "" for the default
	// one.
	Host string `json:"host,omitempty"`
	// AccessKeyPrefix before an access key's id chooses it. It is "" for the default one.
	AccessKeyPrefix string `json:"accessKeyPrefix,omitempty"`
	// Resources counts what its state holds.
	Resources int `json:"resources"`
	// Calls counts what it answered.
	Calls uint64 `json:"calls"`
	// Problem is why a durable cloud could not be opened. Such a cloud can be deleted only.
	Problem string `json:"problem,omitempty"`
}

// Clouds lists the clouds, the default one first.
type Clouds struct {
	Clouds []Cloud `json:"clouds"`
}
