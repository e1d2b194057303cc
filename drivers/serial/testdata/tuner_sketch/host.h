// What the sketch needs of an Arduino, on a computer: the serial line is standard
// input and output. Input A<n> stands at n tenths of the reference voltage.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned char byte;
enum { OUTPUT = 1, A0 = 14 };

static unsigned long millis() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000UL + t.tv_nsec / 1000000UL;
}
static void pinMode(int, int) {}
static void analogWrite(int, int) {}
static int analogRead(int pin) { return (pin - A0) * 1023 / 10; }
static char *itoa(int v, char *text, int) {
  sprintf(text, "%d", v);
  return text;
}

struct Line {
  void begin(long) { setvbuf(stdout, NULL, _IONBF, 0); }
  int available() {
    struct pollfd p = {0, POLLIN, 0};
    return poll(&p, 1, 1) > 0;
  }
  int read() {
    unsigned char c;
    if (::read(0, &c, 1) != 1) exit(0);
    return c;
  }
  void print(const char *text) { fputs(text, stdout); }
  void print(char c) { putchar(c); }
  void print(double v, int digits) { printf("%.*f", digits, v); }
};
static Line Serial;

void setup();
void loop();
int main() {
  setup();
  for (;;) loop();
}
