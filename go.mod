module github.com/clbemu/clbemu

go 1.26.0

require (
	github.com/hashicorp/go-memdb v1.3.5
	github.com/rs/zerolog v1.35.1
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/hashicorp/go-immutable-radix v1.3.1 // indirect
	github.com/hashicorp/golang-lru v0.5.4 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
