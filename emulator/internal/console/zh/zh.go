// Package zh has the texts in Chinese of the console and of clbemu explain. It must not know
// who shows them.
package zh

import "embed"

// Files are words.yaml, library.yaml and explain.yaml.
//
//go:embed *.yaml
var Files embed.FS
