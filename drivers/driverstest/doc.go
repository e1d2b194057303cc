// Package driverstest checks a device against the contract of package drivers ([Conform]).
// Package broker beside this one starts an MQTT broker for a test.
package driverstest
