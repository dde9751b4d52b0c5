// Package flow is what the programs around the generated clients share.
package flow

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// Content is a file that is not text.
var Content = []byte("MZ\x00\xff\x00latchkey\r\n")

// BaseURL is the address of the service.
var BaseURL = os.Getenv("BASE_URL")

// Email returns an address that nobody has registered.
func Email() string {
	return "dev-" + strings.ToLower(rand.Text()) + "@example.com"
}

// Done says that a step has passed.
func Done(step string) {
	fmt.Println("ok", step)
}

// Check exits if there is an error.
func Check(err error) {
	if err != nil {
		Require(false, "%v", err)
	}
}

// Require exits with a message if the condition is not true.
func Require(condition bool, message string, values ...any) {
	if !condition {
		fmt.Fprintf(os.Stderr, message+"\n", values...)
		os.Exit(1)
	}
}
