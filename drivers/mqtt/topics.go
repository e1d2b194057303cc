package mqtt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxTopic bounds a topic, in bytes; the protocol's own bound is 65535.
const maxTopic = 1024

// checkTopic checks one topic's own form.
func checkTopic(key, topic string) error {
	switch {
	case topic == "":
		return fmt.Errorf("%s: topic is empty", key)
	case strings.ContainsAny(topic, "+#\x00"):
		return fmt.Errorf("%s: topic %q has a wildcard or a null; name one topic", key, topic)
	case len(topic) > maxTopic || !utf8.ValidString(topic):
		return fmt.Errorf("%s: topic %.40q... must be UTF-8 of at most %d bytes", key, topic, maxTopic)
	}
	return nil
}

// checkTopics checks that no topic has two meanings. Readings may share one:
// then a message carries several channels of one instant.
func checkTopics(channels []*channel) error {
	owner := map[string]string{}   // by the topics of setpoints and releases
	templated := map[string]bool{} // topics that carry setpoints of templates alone
	var problems []error
	for _, c := range channels {
		for _, topic := range []string{c.write, c.release} {
			if topic == "" {
				continue
			}
			// A number and the text of a release can be distinguished on one topic.
			// Templates tell a device apart what is meant, on one topic as well.
			other, taken := owner[topic]
			together := c.plain && other == c.Name || c.template != nil && templated[topic]
			templated[topic] = c.template != nil && (!taken || templated[topic])
			if taken && !together {
				problems = append(problems, fmt.Errorf("topic %q carries setpoints or releases of both %q and %q; give each its own", topic, other, c.Name))
			}
			owner[topic] = c.Name
		}
	}
	for _, c := range channels {
		for _, heard := range []struct{ what, topic string }{{"reads", c.read}, {"is confirmed", c.confirm}} {
			if other, taken := owner[heard.topic]; heard.topic != "" && taken {
				problems = append(problems, fmt.Errorf("channel %q %s on topic %q, where setpoints or releases of %q go; its own setpoint would count as an answer", c.Name, heard.what, heard.topic, other))
			}
		}
	}
	return errors.Join(problems...)
}

// checkTopics checks that the status topic is no other.
func (o Options) checkTopics(channels []*channel) error {
	for _, c := range channels {
		for _, s := range o.statuses() {
			if slices.Contains([]string{c.read, c.write, c.release, c.confirm}, s.Topic) {
				return fmt.Errorf("status: topic %q is one of channel %q; a status has a topic of its own", s.Topic, c.Name)
			}
		}
	}
	return nil
}
