// The contract of tests/conformance/contract by sarama: go run . <settings.json>
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"
)

const records = 60

var settings struct {
	Bootstrap       string            `json:"bootstrap"`
	SecureBootstrap string            `json:"secure_bootstrap"`
	CA              string            `json:"ca"`
	Run             string            `json:"run"`
	Passwords       map[string]string `json:"passwords"`
	Tokens          map[string]string `json:"tokens"`
	Skip            map[string]string `json:"skip"`
	Only            []string          `json:"only"`
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(holds bool, what string, arguments ...any) {
	if !holds {
		panic(fmt.Errorf(what, arguments...))
	}
}

func eventually(holds func() bool, what string) {
	for ends := time.Now().Add(30 * time.Second); time.Now().Before(ends); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return
		}
	}
	panic(fmt.Errorf("not within 30 s: %s", what))
}

func values(label string) []string {
	found := make([]string, records)
	for n := range found {
		found[n] = fmt.Sprintf("%s-%d", label, n)
	}
	return found
}

func same(found, expected []string, sorted bool) {
	if sorted {
		slices.Sort(found)
		slices.Sort(expected)
	}
	check(slices.Equal(found, expected), "%v is not %v", found, expected)
}

func judge(name string, body func()) {
	began := time.Now()
	status, detail := "passed", ""
	func() {
		defer func() {
			if failure := recover(); failure != nil {
				status, detail = "failed", fmt.Sprint(failure)
				fmt.Fprintln(os.Stderr, name, failure, string(debug.Stack()))
			}
		}()
		body()
	}()
	say(map[string]any{
		"case": name, "status": status, "detail": detail[:min(300, len(detail))], "ms": time.Since(began).Milliseconds(),
	})
}

func say(line map[string]any) {
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, module := range info.Deps {
			if module.Path == "github.com/IBM/sarama" {
				return module.Version
			}
		}
	}
	return "unknown"
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	must(json.Unmarshal(text, &settings))
	if len(os.Args) > 2 {
		hang(os.Args[2])
	}
	say(map[string]any{"version": version()})
	for _, each := range cases {
		if _, skipped := settings.Skip[each.name]; skipped {
			continue
		}
		if len(settings.Only) > 0 && !slices.Contains(settings.Only, each.name) {
			continue
		}
		judge(each.name, each.body)
	}
	say(map[string]any{"done": true})
}
