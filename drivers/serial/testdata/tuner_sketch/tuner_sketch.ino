// The Arduino side of the profile "arduino": six inputs, six PWM outputs, and a dead
// man's handle. 115200 bits per second; lines end with a line feed.
//
//   ID?          TUNER-SKETCH 1
//   R A0         A0=0.51234        input A0..A5, 0 to 1 of the reference voltage
//   R D3         D3=0.2500         output as it was last set
//   W D3 0.25    OK                duty cycle 0 to 1 of D3, D5, D6, D9, D10, D11
//   H            OK                all outputs off
//   otherwise    ERR and the reason; nothing is changed
//
// The cancel character (24) in a line spoils it. Ten seconds after the last command
// all outputs go off by themselves: a computer that died leaves nothing on. tuner
// reads at every tick, which keeps them on.

const byte PINS[] = {3, 5, 6, 9, 10, 11};
const byte COUNT = sizeof(PINS);
const unsigned long PATIENCE_MS = 10000;

float duty[COUNT];
char line[24];
byte used = 0;
bool spoilt = false;
unsigned long heard_ms = 0;

void all_off() {
  for (byte i = 0; i < COUNT; i++) {
    duty[i] = 0;
    analogWrite(PINS[i], 0);
  }
}

void setup() {
  for (byte i = 0; i < COUNT; i++) pinMode(PINS[i], OUTPUT);
  all_off();
  Serial.begin(115200);
}

// The place of an output in PINS, or -1. The whole text must be the number.
int output_of(const char *text) {
  for (byte i = 0; i < COUNT; i++) {
    char name[4];
    itoa(PINS[i], name, 10);
    if (strcmp(text, name) == 0) return i;
  }
  return -1;
}

// Digits with at most one point, and nothing else: atof would take half a number.
bool is_number(const char *text) {
  bool digit = false, point = false;
  for (; *text; text++) {
    if (*text >= '0' && *text <= '9') digit = true;
    else if (*text == '.' && !point) point = true;
    else return false;
  }
  return digit;
}

void answer_read(const char *what) {
  if (what[0] == 'A' && what[1] >= '0' && what[1] <= '5' && what[2] == 0) {
    Serial.print(what);
    Serial.print('=');
    Serial.print(analogRead(A0 + (what[1] - '0')) / 1023.0, 5);
    Serial.print('\n');
    return;
  }
  int i = what[0] == 'D' ? output_of(what + 1) : -1;
  if (i < 0) {
    Serial.print("ERR no such pin\n");
    return;
  }
  Serial.print(what);
  Serial.print('=');
  Serial.print(duty[i], 4);
  Serial.print('\n');
}

void answer_write(char *what) {
  char *value = strchr(what, ' ');
  if (value == NULL) {
    Serial.print("ERR no value\n");
    return;
  }
  *value++ = 0;
  int i = what[0] == 'D' ? output_of(what + 1) : -1;
  if (i < 0 || !is_number(value)) {
    Serial.print(i < 0 ? "ERR no such pin\n" : "ERR no number\n");
    return;
  }
  float v = atof(value);
  if (v > 1.0) {
    Serial.print("ERR beyond 1\n");
    return;
  }
  duty[i] = v;
  analogWrite(PINS[i], (int)(v * 255.0 + 0.5));
  Serial.print("OK\n");
}

void answer_line() {
  heard_ms = millis();
  if (strcmp(line, "ID?") == 0) {
    Serial.print("TUNER-SKETCH 1\n");
  } else if (strcmp(line, "H") == 0) {
    all_off();
    Serial.print("OK\n");
  } else if (strncmp(line, "R ", 2) == 0) {
    answer_read(line + 2);
  } else if (strncmp(line, "W ", 2) == 0) {
    answer_write(line + 2);
  } else {
    Serial.print("ERR unknown command\n");
  }
}

void loop() {
  if (millis() - heard_ms > PATIENCE_MS) all_off();
  while (Serial.available() > 0) {
    char c = Serial.read();
    if (c == '\n') {
      line[used] = 0;
      if (spoilt) Serial.print("ERR spoilt\n");
      else answer_line();
      used = 0;
      spoilt = false;
    } else if (c == 24 || used == sizeof(line) - 1) {
      spoilt = true;
    } else {
      line[used++] = c;
    }
  }
}
