package quotas

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// idle are the parameters that nothing here reads, as they change no answer.
var idle = []gateway.Idle{
	{Parameter: "OriginalContext", Actions: []string{"CreateQuotaApplication"}, Why: "what a console says of its own user"},
	{Parameter: "EnvLanguage", Actions: []string{"CreateQuotaApplication"}, Why: "the language of notices, which clbemu never sends"},
	{Parameter: "EffectiveTime", Actions: []string{"CreateQuotaApplication"}, Why: "the cloud reads it of whitelists alone"},
	{Parameter: "ExpireTime", Actions: []string{"CreateQuotaApplication"}, Why: "the cloud reads it of whitelists alone"},
	{Parameter: "AuditMode", Actions: []string{"CreateQuotaApplication"}, Values: []string{"Sync", "Async"}, Why: "the cloud no longer reads it"},
}
