// Package fleet holds a test of several tuners on a clustered broker: three NATS servers
// with their MQTT gateway, of which one is killed. It is a separate module, so that the
// servers are no dependency of the product:
//
//	cd scripts/fleet && go test -v ./...
package fleet
