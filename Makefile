# `make run` needs Go and make. Tests also use gcc, git, and what `make needs` lists.
FUZZTIME ?= 60s
ROUNDS ?= 100
SOAK ?= 10m
LENGTH ?= 10m
SEED ?= 0
# Without the tag, etcd's client brings pages of traces, 6 MB that nothing serves.
BUILD = CGO_ENABLED=0 go build -trimpath -tags grpcnotrace -ldflags "-s -w"

# One configuration for all that is built, so that no package is compiled twice, and
# clones share what they compile. Only the race detector needs another one.
export CGO_ENABLED = 0
export GOFLAGS := -trimpath $(filter-out -trimpath,$(GOFLAGS))

MODULE = github.com/clbemu/clbemu
MODULES = . cmd/clbemu-replica deploy deploy/clbemucontainer deploy/helm contracttests/kubernetes examples/testcontainers examples/envtest
# Goroutines meet in these packages, whose tests run with the race detector; elsewhere in the
# tests of files called race_test.go or *_race_test.go. All other tests run without it.
RACE = state state/engine/bolt state/engine/memory state/jsonstream faults emulator/journal emulator/emulatortest \
	emulator/internal/clouds emulator/internal/dataplane emulator/internal/dataplane/forward emulator/internal/dns \
	emulator/internal/gateway emulator/internal/listen emulator/internal/replicas
# These need a browser, or Terraform, and have a target of their own.
APART = contracttests/console contracttests/terraform
PACKAGES = ./...
LISTED = $(shell go list $(PACKAGES))
RACE_PACKAGES = $(filter $(RACE:%=$(MODULE)/%),$(LISTED))
PLAIN_PACKAGES = $(filter-out $(RACE_PACKAGES) $(APART:%=$(MODULE)/%),$(LISTED))
RACE_FILES = $(shell find cmd/clbemu cmd/internal contracttests docs emulator examples faults scenarios state -name '*race_test.go' -not -path '*/kubernetes/*')
RACE_FOLDERS = $(filter $(patsubst ./%/,$(MODULE)/%,$(dir $(RACE_FILES:%=./%))),$(PLAIN_PACKAGES))
RACE_TESTS = $(shell sed -nE 's/^func (Test[A-Za-z0-9_]*).*/\1/p' $(RACE_FILES) | paste -s -d '|' -)
# What quick leaves out: tests that start processes, browsers and whole scenarios.
QUICK_PACKAGES = $(filter-out $(MODULE)/cmd/clbemu $(MODULE)/contracttests% $(MODULE)/docs $(MODULE)/examples% $(MODULE)/emulator/target $(MODULE)/emulator/explain \
	$(MODULE)/cmd/internal/command $(MODULE)/cmd/internal/explor%,$(PLAIN_PACKAGES) $(RACE_PACKAGES))
TOOLS = $(CURDIR)/bin/tools
# The collector costs tests a third of their time, and they end soon: it comes later, up to a bound.
TEST = GOGC=400 GOMEMLIMIT=1GiB $(TOOLS)/gotestsum --format-hide-empty-pkg
SLOWEST = $(TOOLS)/gotestsum tool slowest --threshold 1s --num 20
# Many tests wait for processes, so more packages run at once than there are cores. The tests
# with names and lines in their reports need no tables for debuggers, which take a third of linking.
LINK = -ldflags='-s -w'
FLAGS = -vet=off -shuffle=on -timeout 30m -p 4 $(LINK)

.PHONY: build replica run tools needs test large browser node versions terraform replica-test replicas-storm replicas-storm-mutants quick fuzz crash soak bench contract golden mutants mutants-here mutants-scenarios pictures site fmt lint check
.PHONY: systems deploy-test e2e ccm-version control-plane control-plane-programs image-archive image-pack
.PHONY: vulnerabilities coverage release-tools release-snapshot release release-test kind-up e2e-kind mutants-kind kind-down

# build the binary, static, into bin/
build:
	$(BUILD) -o bin/clbemu ./cmd/clbemu

# replica: build clbemu-replica, which is clbemu with etcd's client, into bin/
replica:
	cd cmd/clbemu-replica && $(BUILD) -o ../../bin/clbemu-replica .

# run the emulator on 127.0.0.1:9600, with its state in ./clbemu-data
run: build
	./bin/clbemu serve

# tools: the linters and the printer of test results, at the versions of .ci/go.mod
tools:
	@go -C .ci build -o $(TOOLS)/ tool

# needs: what tests use beside Go, and what is skipped without it
needs:
	@.ci/needs

# test everything that needs Go, make, git and gcc alone, or PACKAGES; sizes are small, and
# whole in `make large`
test: export CLBEMU_TEST_BUILT = $(if $(filter ./...,$(PACKAGES)),$(CURDIR)/bin/test)
test: tools needs
	@test -n "$$(go list $(PACKAGES))" || { echo 'PACKAGES names no package: $(PACKAGES)'; exit 1; }
	@[ -z "$$CLBEMU_TEST_BUILT" ] || go build -o bin/test/clbemu ./cmd/clbemu
	@status=0; rm -rf bin/results; mkdir -p bin/results; \
	plain='$(PLAIN_PACKAGES)' race='$(RACE_PACKAGES)' folders='$(RACE_FOLDERS)'; \
	[ -z "$$plain" ] || $(TEST) --jsonfile bin/results/plain.json -- $(FLAGS) $(SIZE) $$plain || status=1; \
	[ -z "$$race" ] || CGO_ENABLED=1 $(TEST) --jsonfile bin/results/race.json -- -race $(FLAGS) $(SIZE) $$race || status=1; \
	[ -z "$$folders" ] || CGO_ENABLED=1 $(TEST) --jsonfile bin/results/race-files.json -- -race $(FLAGS) $(SIZE) -run '^($(RACE_TESTS))$$' $$folders || status=1; \
	[ '$(PACKAGES)' != ./... ] || $(MAKE) --no-print-directory replica-test || status=1; \
	echo; echo 'The twenty slowest tests:'; \
	cat bin/results/*.json 2>/dev/null | $(SLOWEST); \
	[ -z '$(SIZE)' ] || echo 'Sizes were small: make large has them whole. Without a browser, Node and Terraform: make browser node versions terraform'; \
	exit $$status
SIZE = -short

# large: the tests of `make test` with whole sizes, such as 10,000 load balancers
large: SIZE =
large: test

# browser: the console and the site of the pages, in Chromium
browser: tools
	CLBEMU_CHROMIUM=required CLBEMU_NODE=required $(TEST) -- $(FLAGS) -count=1 ./contracttests/console

# node: clients for Node, and the language server that editors have
node: tools
	CLBEMU_NODE=required $(TEST) -- $(FLAGS) -count=1 -run 'Node|Editor|ClientFamilies' ./contracttests ./examples

# versions: what go install and a release say of their version
versions: tools
	$(TEST) -- $(FLAGS) -count=1 -run 'InstallTaggedClone|InstallVersion|ReleaseVersion' ./cmd/clbemu

# terraform: configurations with the real provider, in the folder CLBEMU_TERRAFORM_PROVIDER
terraform: tools
	$(TEST) -- $(FLAGS) -count=1 -timeout 60m ./contracttests/terraform

# replica-test: the module of clbemu-replica, as far as it goes without etcd, which e2e has
replica-test: tools
	cd cmd/clbemu-replica && CGO_ENABLED=1 $(TEST) -- -race $(FLAGS) ./etcd
	cd cmd/clbemu-replica && $(TEST) -- $(FLAGS) .

# replicas-storm: disturb replicas and etcd for LENGTH, by the choices of SEED (0: others each
# time), and judge what clients saw; as root, networks are cut and slowed too
replicas-storm: control-plane-programs
	cd contracttests/kubernetes/replicas && go test -vet=off -count=1 -v -timeout 0 -run 'TestStorm$$' . -storm $(LENGTH) -seed $(SEED)

# replicas-storm-mutants: storms with an engine that lacks its fence, or its lease, must find that within LENGTH
replicas-storm-mutants: control-plane-programs
	cd contracttests/kubernetes/replicas && go test -vet=off -count=1 -v -timeout 0 -run TestStormFindsMutants . -storm-mutants $(LENGTH)

# quick: lint of this module, unit tests, golden files and the CCM's calls with its own SDK
quick: MODULES = .
quick: lint
	@$(TEST) -- -vet=off $(QUICK_PACKAGES)
	$(TEST) -- -vet=off -run 'Golden|Schema|Evidence|HasCases|CCM' ./contracttests

# fuzz each target for FUZZTIME; a count (2000x) ends well on a busy machine, a time may not
fuzz:
	@grep -rn '^func Fuzz' --include='*_test.go' . | sed -E 's|^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | \
	while read -r package target; do \
		go -C $$package test -vet=off $(LINK) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x . || exit 1; \
	done

# crash: end the binary ROUNDS times among concurrent writes, snapshots, imports and resets
crash:
	go test -count=1 -v -timeout 0 -run TestCrash ./contracttests/durability -rounds $(ROUNDS)

# soak: make and delete for SOAK; memory, files, goroutines and descriptors must be where they were
soak:
	go test -count=1 -v -timeout 0 -run TestSoak ./contracttests/durability -soak $(SOAK)

# bench: the figures of contracttests/figures.md, on this machine
bench:
	go test -run '^$$' -bench . -benchtime 1x -timeout 30m ./emulator
	go test -run '^$$' -bench . -benchtime 2s ./emulator/internal/dataplane/... ./emulator/journal
	go test -run '^$$' -bench . -benchtime 1x ./cmd/internal/explore ./cmd/internal/exploring
	cd contracttests/kubernetes && go test -run '^$$' -bench . -benchtime 5x ./replicas
	cd cmd/clbemu-replica && go test -run '^$$' -bench . -benchtime 1x ./etcd

# contract: the cloud's own SDKs against the emulator
contract:
	go test -count=1 ./contracttests/...

# golden: rewrite the recorded replies, the pages of the reference, the OpenAPI document and
# the JSON Schemas of files; with CASE=Slb/CreateVServerGroup/empty, which may be a pattern, that case alone
golden:
ifdef CASE
	go test ./contracttests -run 'TestGolden/$(CASE)' -update
else
	go test ./scenarios -run Schema -update
	go test ./emulator/world -run Schema -update
	go test ./contracttests -run 'Golden|DeclaredLimits|StatementsPage|CCMVersionsPage|FidelityPage' -update
	go test ./contracttests -run 'Refusals|Explained' -update-refusals
	go test ./emulator/internal/control -run 'Document$$' -update
	go test ./emulator/names -run Answers -update
	go test ./emulator/explain -run 'TestIndex$$|TestPublished$$' -update
	go test ./cmd/internal/command -run Reference -update
	go test ./docs -run 'GoPackages|ChineseLibrary' -update
endif

# mutants: change lines of clbemu, one at a time in one build, and record which plays notice it,
# those of statements of the documents among them; the page contracttests/seeds.md shows it
mutants: control-plane-programs
	go test -vet=off -count=1 -v -timeout 120m ./contracttests/mutants -run Mutants -mutants all
	go test ./contracttests -run StatementsPage -update

# mutants-here: those of `make mutants` whose plays need no control plane, and the planted races, in
# half an hour; a test that is changed may notice less than the record says
mutants-here:
	go test -vet=off -count=1 -v -timeout 120m ./contracttests/mutants -run 'TestMutants$$|TestRaces$$' -mutants all -where '!kubernetes' -races

# mutants-scenarios: the same with values, cures and causes of the library's scenarios, in some 40 minutes
mutants-scenarios: control-plane-programs
	go test -vet=off -count=1 -timeout 60m ./contracttests/library -run Values -update-mutants
	cd contracttests/kubernetes && E2E_MUTANTS=1 go test -vet=off -count=1 -timeout 60m -run 'TestMutants$$|TestPartValues$$' .
	go test ./contracttests -run StatementsPage -update

# pictures: those of the console, in docs/images; this needs chromium
pictures:
	go test -count=1 -run Look ./contracttests/console -pictures $(CURDIR)/docs/images
	rm -r docs/images/narrow

# site: the pages as a static site, in bin/site; this needs npm
site:
	mkdir -p bin/site-build && cp -R docs/site/. bin/site-build/
	cd bin/site-build && { cmp -s package-lock.json installed.json || \
		{ npm ci --prefer-offline --ignore-scripts --no-audit --no-fund && cp package-lock.json installed.json; }; }
	cd bin/site-build && npm run --silent build

# fmt: format the Go files
fmt:
	gofmt -w $$(git ls-files '*.go')

# lint formatting, suspicious code, spelling and the module files
lint: tools
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'not formatted: make fmt'; exit 1; }
	@$(TOOLS)/actionlint -shellcheck= -pyflakes= .github/workflows/*.yaml # other tools differ from machine to machine
	@dead=$$($(TOOLS)/deadcode -test ./... | grep -v ' \(Replica\|Before\)$$') || :; \
		test -z "$$dead" || { echo "$$dead"; echo 'nothing calls it: other modules call Replica and Before alone'; exit 1; }
	@for module in $(MODULES); do \
		echo "lint $$module" && cd $(CURDIR)/$$module && go vet ./... && go vet -vettool=$(TOOLS)/errorlint ./... && \
		$(TOOLS)/staticcheck ./... && go mod tidy -diff || exit 1; \
	done
	@$(TOOLS)/misspell -error -i $(MISSPELT) $$(git ls-files '*.go' '*.md')

# Words that tests misspell for users, and the cloud itself.
MISSPELT = adress,listners,levle,nmae,prefered,payed,cannnot,descritpion

# systems: vet what the other systems compile that are released, tests among them
SYSTEMS = darwin windows
systems:
	for os in $(SYSTEMS); do GOOS=$$os go vet ./... || exit 1; done

# check what a change must pass, but for e2e
check: lint systems test browser node versions
	$(MAKE) --no-print-directory fuzz FUZZTIME=2000x

# deploy-test: what is deployed, as far as it goes without Docker and Kubernetes
deploy-test: tools
	cd deploy && $(TEST) -- -vet=off $(LINK) -count=1 ./...
	cd deploy/helm && $(TEST) -- -vet=off $(LINK) -count=1 ./...
	cd deploy/clbemucontainer && $(TEST) -- -vet=off $(LINK) -count=1 ./...

# e2e: a controller on a real Kubernetes control plane, built once; CCM_BIN names a real CCM
e2e: tools control-plane-programs
	@status=0; mkdir -p bin; \
	(cd contracttests/kubernetes && $(TEST) --jsonfile $(CURDIR)/bin/e2e.json -- -vet=off $(LINK) -count=1 -timeout 60m ./...) || status=1; \
	echo; echo 'The twenty slowest tests:'; \
	$(SLOWEST) <bin/e2e.json; \
	exit $$status

# ccm-version: play the library with the CCM of CCM_BIN, and write the column of VERSION into
# contracttests/ccm-versions.md; SCENARIOS, a pattern, plays some alone
SCENARIOS = .
ccm-version: control-plane-programs
	cd contracttests/kubernetes && CCM_BIN=$(abspath $(CCM_BIN)) go test -vet=off -count=1 -timeout 120m -v -run 'TestLibrary$$/$(SCENARIOS)' . -record-version $(VERSION)
	go test ./contracttests -run CCMVersionsPage -update

# control-plane-programs: build what the control plane is made of, once for all clones
control-plane-programs:
	cd contracttests/kubernetes && go run ./controlplane -build

# control-plane: Kubernetes without containers, until Ctrl-C
control-plane:
	cd contracttests/kubernetes && go run ./controlplane

# image-archive: the Dockerfile's images without Docker, for docker load and kind load
# image-archive; with ARCHS=amd64,arm64 each is for both
ARCHS = $(shell go env GOARCH)
image-archive:
	set -e; for arch in $$(echo $(ARCHS) | tr , ' '); do \
		export GOOS=linux GOARCH=$$arch; \
		(cd cmd/clbemu-replica && $(BUILD) -o ../../bin/linux/$$arch/ .); \
		(cd deploy && $(BUILD) -o ../bin/linux/$$arch/clbemu-worldwatch ./worldwatch); \
	done
	$(MAKE) --no-print-directory image-pack PROGRAMS=linux/ARCH OUT=bin

# image-pack: put the programs of bin/PROGRAMS into the archives of the two images, in OUT
image-pack:
	cd deploy && go run ./image -programs '../bin/$(PROGRAMS)' -arch $(ARCHS) -out ../$(OUT)/clbemu-image.tar
	cd deploy && go run ./image -image clbemu-worldwatch -programs '../bin/$(PROGRAMS)' -arch $(ARCHS) -out ../$(OUT)/clbemu-worldwatch-image.tar

# vulnerabilities: those that are published of what the programs link and call; this asks the Go vulnerability database
vulnerabilities: tools
	@for module in $(MODULES); do cd $(CURDIR)/$$module && $(TOOLS)/govulncheck ./... || exit 1; done

# coverage: the statements that make test reaches, by package and as a page, in bin/coverage
coverage:
	mkdir -p bin/coverage
	go test $(FLAGS) $(SIZE) -coverpkg ./... -coverprofile bin/coverage/profile $(filter-out $(APART:%=$(MODULE)/%),$(LISTED))
	go tool cover -func bin/coverage/profile >bin/coverage/functions.txt
	go tool cover -html bin/coverage/profile -o bin/coverage/index.html
	@tail -n 1 bin/coverage/functions.txt

# release-tools: goreleaser and what it calls, at the versions of .ci/release/go.mod
release-tools:
	@go -C .ci/release build -o $(TOOLS)/ tool

# release-snapshot: all that a release has, in bin/dist, without a tag and without publishing
release-snapshot: RELEASE_FLAGS = --snapshot
release-snapshot: release

# release: the same of the tag that is checked out, published unless RELEASE_FLAGS=--skip=publish
release: release-tools
	PATH="$(TOOLS):$$PATH" goreleaser release --clean $(RELEASE_FLAGS)
	$(MAKE) --no-print-directory image-pack ARCHS=amd64,arm64 PROGRAMS='dist/*_linux_ARCH_*' OUT=bin/dist

# release-test: the packages for this machine: made twice, installed, upgraded, purged
release-test: release-tools
	cd deploy && CLBEMU_RELEASE=required go test -vet=off -count=1 -v ./systemd

# kind-up: a kind cluster in which the CCM of the image CCM_IMAGE works against clbemu
kind-up: image-archive
	deploy/kind/up.sh

# e2e-kind: Services, symptoms with their cures, a drained node and a killed clbemu in the cluster of kind-up
e2e-kind:
	deploy/kind/e2e.sh

# mutants-kind: take causes and cures out of the checks of e2e-kind, which must fail, in some two hours
mutants-kind:
	deploy/kind/mutants.sh

# kind-down: delete the cluster of kind-up
kind-down:
	deploy/kind/down.sh
