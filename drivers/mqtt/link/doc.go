// Package link keeps a connection to an MQTT 3.1.1 broker: a client of its own for each
// connection, subscriptions that are made again, messages in the order of their arrival, and
// the cures for the client library's traps that the README of package mqtt lists. It knows
// nothing of instruments.
package link
