// Package opcua makes an instrument of nodes on an OPC UA server.
//
// # Words
//
// A node is a variable of the server, named as in "ns=2;s=Laser.Energy". A sensor is
// subscribed to; what is set is read back by asking, every poll. A session is the time from
// one connection to its end; a connection that breaks is never mended: the device is opened
// again, with a new client, a new session and new subscriptions.
//
// # When a value counts
//
// Every value comes with a status and, from the server, with times. A status of severity Bad is
// no data. One of severity Uncertain is none either, unless the channel says uncertain =
// "take". With stamp = "source", which is what a sensor has, a value is a measurement once
// for each source timestamp, never an earlier one after a later, and as old as that says: by the server's own clock, which every
// answer carries, so that this computer's clock is not compared with another. With stamp =
// "server" the same holds of the server's timestamp. With stamp = "read", which is what a
// channel that is set has, the server is asked, and its answer counts as of then.
//
// # Never a stale setpoint
//
// A write is one request. It is over when the server has answered; one that is not answered
// within reply_timeout breaks the connection: what this computer has not got rid of is thrown
// away with it, and the session is taken over and closed by the next connection, after
// which a server refuses what still comes over the old one. A server that does not know how to do that
// forgets the session after session_timeout (see Device.MaxDelay).
package opcua
