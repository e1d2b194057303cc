// openblas times the two jobs of scripts/compare by OpenBLAS.
//
//   openblas quadratic N M MILLISECONDS   triangular solve of M right-hand sides, N x N
//   openblas refactorise N MILLISECONDS   Cholesky factor and its inverse, N x N
//   openblas version                      what the library says of itself
//
// It prints the fastest execution within the time, in microseconds: at least one, and
// as many as fit. What takes longer than a millisecond, which the scheduler would
// interrupt, is taken by the thread's processor time. Inputs are restored before each
// execution, which is not timed. The solve is tried with the right-hand sides as columns and as rows, and the
// faster counts. The library's number of threads and its kernels are the environment's:
// OPENBLAS_NUM_THREADS, OPENBLAS_CORETYPE.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info);

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return seconds(CLOCK_MONOTONIC); }

static double wall, thread; // when the work began

static void start(void) {
  thread = seconds(CLOCK_THREAD_CPUTIME_ID);
  wall = now();
}

static double elapsed(void) {
  double t = now() - wall;
  return t > 1e-3 ? seconds(CLOCK_THREAD_CPUTIME_ID) - thread : t;
}

static double uniform(void) {
  static unsigned long long state = 88172645463325252ULL; // xorshift64 (Marsaglia 2003)
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53;
}

static double *vector(size_t n) {
  double *v = NULL;
  if (posix_memalign((void **)&v, 64, n * sizeof *v) != 0) {
    fprintf(stderr, "openblas: no memory for %zu numbers\n", n);
    exit(1);
  }
  return v;
}

// covariance of random points in three dimensions: squared exponential with
// lengthscale 0.3, and noise 0.01.
static double *covariance(int n) {
  double *x = vector(3 * (size_t)n), *k = vector((size_t)n * n);
  for (int i = 0; i < 3 * n; i++) x[i] = uniform();
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int c = 0; c < 3; c++) s += (x[3 * i + c] - x[3 * j + c]) * (x[3 * i + c] - x[3 * j + c]);
      k[(size_t)i * n + j] = exp(-0.5 * s / 0.09) + (i == j ? 0.01 : 0);
    }
  }
  free(x);
  return k;
}

static void factorise(int n, double *a) {
  int info = 0;
  dpotrf_("L", &n, a, &n, &info);
  if (info != 0) {
    fprintf(stderr, "openblas: dpotrf says %d\n", info);
    exit(1);
  }
}

static double quadratic(int n, int m, double time) {
  double *l = covariance(n);
  factorise(n, l);
  size_t size = (size_t)n * m;
  double *from = vector(size), *to = vector(size);
  for (size_t i = 0; i < size; i++) from[i] = uniform() - 0.5;
  // By rows, L is the transpose of an upper triangle.
  double best = INFINITY, end = now() + time;
  do {
    memcpy(to, from, size * sizeof *to);
    start();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, m, 1, l, n, to, n);
    best = fmin(best, elapsed());
    memcpy(to, from, size * sizeof *to);
    start();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, n, m, 1, l, n, to, m);
    best = fmin(best, elapsed());
  } while (now() < end);
  return best;
}

static double refactorise(int n, double time) {
  double *k = covariance(n), *a = vector((size_t)n * n);
  double best = INFINITY, end = now() + time;
  do {
    memcpy(a, k, (size_t)n * n * sizeof *a);
    int info = 0;
    start();
    factorise(n, a);
    dtrtri_("L", "N", &n, a, &n, &info);
    best = fmin(best, elapsed());
    if (info != 0) {
      fprintf(stderr, "openblas: dtrtri says %d\n", info);
      exit(1);
    }
  } while (now() < end);
  return best;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "version") == 0) {
    printf("%s\n", openblas_get_config());
    return 0;
  }
  if (argc == 5 && strcmp(argv[1], "quadratic") == 0) {
    printf("%.3f\n", 1e6 * quadratic(atoi(argv[2]), atoi(argv[3]), 1e-3 * atof(argv[4])));
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "refactorise") == 0) {
    printf("%.3f\n", 1e6 * refactorise(atoi(argv[2]), 1e-3 * atof(argv[3])));
    return 0;
  }
  fprintf(stderr, "usage: openblas quadratic N M MILLISECONDS | refactorise N MILLISECONDS | version\n");
  return 2;
}
