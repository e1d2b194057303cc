package main

import (
	"encoding/json"
	"runtime/debug"
)

// component is a part of a CycloneDX bill.
type component struct {
	Type     string          `json:"type"`
	Ref      string          `json:"bom-ref"`
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	Scope    string          `json:"scope,omitempty"`
	Licences []licenceChoice `json:"licenses,omitempty"`
	Purl     string          `json:"purl"`
}

type licenceChoice struct {
	Expression string `json:"expression"`
}

// bill is the program and its parts as CycloneDX 1.5.
func bill(info *debug.BuildInfo, parts []part, h head) ([]byte, error) {
	self := component{Type: "application", Name: info.Main.Path, Version: h.version, Purl: "pkg:golang/" + info.Main.Path + "@" + h.version}
	self.Ref = self.Purl
	var properties []map[string]string
	for _, s := range info.Settings {
		properties = append(properties, map[string]string{"name": "go:build:" + s.Key, "value": s.Value})
	}
	var list []component
	refs := []string{}
	for _, p := range parts {
		c := component{Type: "library", Name: p.path, Version: p.version, Scope: "required", Licences: []licenceChoice{{p.licence}},
			Purl: "pkg:golang/" + p.path + "@" + p.version}
		if p.path == "stdlib" {
			c.Purl = "pkg:golang/std@" + p.version
		}
		if p.kind != "" {
			c.Purl = "pkg:" + p.kind + "/" + p.path + "@" + p.version
		}
		c.Ref = c.Purl
		list, refs = append(list, c), append(refs, c.Ref)
	}
	metadata := map[string]any{"component": self, "properties": properties}
	if h.date != "" {
		metadata["timestamp"] = h.date
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": metadata, "components": list,
		"dependencies": []map[string]any{{"ref": self.Ref, "dependsOn": refs}},
	}, "", " ")
	return append(text, '\n'), err
}
