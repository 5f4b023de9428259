// Package metadata owns the instance metadata service, which an ECS instance
// reaches at 100.100.100.200: what the instance is, where it is, and temporary
// credentials of its RAM role, over both versions of the protocol. It must not
// know the OpenAPI: what it answers is plain text.
package metadata

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/state"
)

// Config configures the metadata service.
type Config struct {
	Store *state.Store
	// InstanceID is the instance that every caller is; empty takes the first
	// running one in order of id.
	InstanceID string
	Log        zerolog.Logger
	// Seed makes session tokens repeatable; 0 takes a random one.
	Seed uint64
}

// The headers of the second version of the protocol.
const (
	headerTTL   = "X-aliyun-ecs-metadata-token-ttl-seconds"
	headerToken = "X-aliyun-ecs-metadata-token"
)

// maxTTL is the longest life of a session token in seconds.
const maxTTL = 21600

type service struct {
	cfg    Config
	tokens *tokens
}

// New returns the service. It serves paths under /latest/.
func New(cfg Config) http.Handler {
	s := &service{cfg: cfg, tokens: newTokens(cfg.Seed)}
	r := mux.NewRouter()
	r.HandleFunc("/latest/api/token", s.issueToken).Methods(http.MethodPut)
	read := r.PathPrefix("/latest/").Methods(http.MethodGet, http.MethodHead).Subrouter()
	read.Use(s.checkToken)
	read.HandleFunc("/meta-data/ram/security-credentials/{role:[^/]+}", s.credentials)
	read.HandleFunc("/{path:.*}", s.read)
	return r
}

func (s *service) issueToken(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.Atoi(r.Header.Get(headerTTL))
	if err != nil || seconds < 1 || seconds > maxTTL {
		http.Error(w, fmt.Sprintf("%s must be 1 to %d", headerTTL, maxTTL), http.StatusBadRequest)
		return
	}
	now := s.cfg.Store.Now()
	answer(w, s.tokens.issue(now, now.Add(time.Duration(seconds)*time.Second)))
}

// checkToken lets calls without a token pass, which is the first version of the
// protocol, but none with one that is not good.
func (s *service) checkToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := r.Header.Values(headerToken); len(token) > 0 && !s.tokens.valid(token[0], s.cfg.Store.Now()) {
			http.Error(w, "the metadata token is unknown or expired: get one by PUT /latest/api/token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *service) read(w http.ResponseWriter, r *http.Request) {
	self, err := s.identify(s.cfg.Store.View(state.Owner{}))
	if err != nil {
		s.refuse(w, err)
		return
	}
	text, err := lookUp(self, mux.Vars(r)["path"])
	if err != nil {
		s.refuse(w, err)
		return
	}
	answer(w, text)
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	// A client that left before its answer is no error of the service.
	_, _ = w.Write([]byte(text))
}

// errAbsent is for paths that the instance has nothing at.
var errAbsent = errors.New("there is nothing at this path")

// refuse reveals nothing of this machine: whoever reaches the service may ask.
func (s *service) refuse(w http.ResponseWriter, err error) {
	var fact *state.Error
	if errors.Is(err, errAbsent) || errors.As(err, &fact) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	s.cfg.Log.Error().Err(err).Msg("the metadata service failed inside")
	http.Error(w, "the metadata service failed inside: clbemu's log says why", http.StatusInternalServerError)
}
