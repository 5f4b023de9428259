# Nothing but Go and make is needed; `make race` and `make check` also use gcc and git,
# and strace, Node and chromium where there are some.
FUZZTIME ?= 60s
ROUNDS ?= 100
SOAK ?= 10m
BUILD = CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"

.PHONY: build run test race fuzz crash soak bench contract golden pictures lint check
.PHONY: e2e control-plane image-archive kind-up e2e-kind kind-down

# build the binary, static, into bin/
build:
	$(BUILD) -o bin/clbemu ./cmd/clbemu

# run the emulator on 127.0.0.1:9600, with its state in ./clbemu-data
run: build
	./bin/clbemu serve

# test everything
test:
	go test ./...

# test everything for data races, in random order
race:
	go test -race -shuffle=on -timeout 30m ./...

# fuzz each target for FUZZTIME; a count (10000x) ends well on a busy machine, a time may not
fuzz:
	@grep -rn '^func Fuzz' --include='*_test.go' . | sed -E 's|^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | \
	while read -r package target; do \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package || exit 1; \
	done

# crash: end the binary ROUNDS times among concurrent writes, snapshots, imports and resets
crash:
	go test -count=1 -v -timeout 0 -run TestCrash ./contracttests/durability -rounds $(ROUNDS)

# soak: make and delete for SOAK; memory, files, goroutines and descriptors must be where they were
soak:
	go test -count=1 -v -timeout 0 -run TestSoak ./contracttests/durability -soak $(SOAK)

# bench: the figures of docs/figures.md, on this machine
bench:
	go test -run '^$$' -bench . -benchtime 1x -timeout 30m ./emulator

# contract: the cloud's own SDKs against the emulator
contract:
	go test -count=1 ./contracttests/...

# golden: rewrite the recorded replies, the pages of the reference and the scenarios' JSON Schema
golden:
	go test ./scenarios -run Schema -update
	go test ./contracttests -run 'Golden|DeclaredLimits' -update
	go test ./contracttests -run 'Refusals|Explained' -update-refusals
	go test ./cmd/clbemu -run Reference -update

# pictures: those of the console, in docs/images; this needs chromium
pictures:
	go test -count=1 -run Look ./contracttests/console -pictures $(CURDIR)/docs/images
	rm -r docs/images/narrow

# lint formatting, suspicious code and the module file
lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'not formatted: run gofmt -w on these'; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff

# check everything that a change must pass
check: lint
	$(MAKE) --no-print-directory fuzz FUZZTIME=10000x
	$(MAKE) --no-print-directory race

# e2e: a controller on a real Kubernetes control plane, built once; CCM_BIN names a real CCM
e2e:
	go build -o bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	cd deploy && go vet ./... && ../bin/staticcheck ./... && go mod tidy -diff
	cd contracttests/kubernetes && go vet ./... && ../../bin/staticcheck ./... && go mod tidy -diff
	cd deploy && go run ./controlplane -build
	cd deploy && go test -count=1 -timeout 60m ./...
	cd contracttests/kubernetes && go test -count=1 -timeout 60m ./*/
	cd contracttests/kubernetes && go test -count=1 -timeout 60m -v .

# control-plane: Kubernetes without containers, until Ctrl-C
control-plane:
	cd deploy && go run ./controlplane

# image-archive: the Dockerfile's image without Docker, for docker load and kind load image-archive
image-archive:
	GOOS=linux $(BUILD) -o bin/linux/clbemu ./cmd/clbemu
	cd deploy && GOOS=linux CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o ../bin/linux/worldwatch ./worldwatch
	cd deploy && go run ./image -binary ../bin/linux/clbemu -worldwatch ../bin/linux/worldwatch -out ../bin/clbemu-image.tar

# kind-up: a kind cluster in which the CCM of the image CCM_IMAGE works against clbemu
kind-up: image-archive
	deploy/kind/up.sh

# e2e-kind: a Service in the cluster of kind-up gets its address
e2e-kind:
	deploy/kind/e2e.sh

# kind-down: delete the cluster of kind-up
kind-down:
	deploy/kind/down.sh
