"""The truncated normal on (a, b]: log mass, log density, mean, quantile and maximum-likelihood fit.

Everything is worked out for the standard normal on (α, β] = ((a − μ)/σ, (b − μ)/σ] and in log space:

1. log Φ(x) from `erfc`, and from its asymptotic series where `erfc` would underflow.
2. The mass Φ(β) − Φ(α) of an interval in the upper tail is computed on the mirrored interval (−β, −α], where
   nothing cancels; that of a very short one from its density.
3. Quantiles invert Φ (Wichura's AS 241, Newton steps in log space in the far tail).
4. The likelihood of μ, σ depends on the sample through its mean and variance alone; `fit` maximises it by
   damped Newton steps on the natural parameters.

The functions are scalar kernels; those named in `__all__` work elementwise on arrays. The uniform distribution is
the limit σ = ∞.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from countarfactuals._kernels import inner, kernel

__all__ = ["log_interval_mass", "log_ndtr", "truncated_logpdf", "truncated_mean", "truncated_ppf"]

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
_SHORT = 1e-5  # below this width the density is taken as log-linear or quadratic: a difference of two Φ loses digits


@inner
def log_ndtr_(x: float) -> float:
    """Log Φ(x)."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x * _SQRT_HALF))
    if x > -36.0:
        return math.log(0.5 * math.erfc(-x * _SQRT_HALF))
    if x == -math.inf:
        return -math.inf
    # Mills' ratio: Φ(x) = φ(x)/|x| · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …), at |x| > 36 exact to the last bit
    y = 1.0 / (x * x)
    series = 1.0 - y * (1.0 - y * (3.0 - y * (15.0 - 105.0 * y)))
    return -0.5 * x * x - LOG_SQRT_2PI - math.log(-x) + math.log(series)


@kernel
def log_mass_(alpha: float, beta: float) -> float:
    """Log (Φ(β) − Φ(α)); −∞ where β ≤ α."""
    if not beta > alpha:
        return -math.inf
    if alpha > 0.0:
        alpha, beta = -beta, -alpha
    width = beta - alpha
    if width < _SHORT:
        if beta < -20.0:  # φ falls off exponentially from its larger end
            return -0.5 * beta * beta - LOG_SQRT_2PI + math.log(math.expm1(beta * width) / beta)
        middle = 0.5 * (alpha + beta)
        curvature = (middle * middle - 1.0) * width * width / 24.0
        return -0.5 * middle * middle - LOG_SQRT_2PI + math.log(width) + math.log1p(curvature)
    if beta > 0.0:  # the interval holds the centre: both tails are at most one half, their sum loses nothing
        outside = 0.5 * math.erfc(-alpha * _SQRT_HALF) + 0.5 * math.erfc(beta * _SQRT_HALF)
        if outside < 0.9:
            return math.log1p(-outside)
        return math.log(0.5 * (math.erf(beta * _SQRT_HALF) - math.erf(alpha * _SQRT_HALF)))
    upper = log_ndtr_(beta)
    if alpha == -math.inf:
        return upper
    return upper + math.log(-math.expm1(log_ndtr_(alpha) - upper))


@inner
def log_interval_mass_(low: float, high: float, a: float, b: float, mu: float, sigma: float) -> float:
    """Log probability of (low, high] under the normal truncated to (a, b], or the uniform where σ = ∞."""
    low, high = max(low, a), min(high, b)
    if not high > low:
        return -math.inf
    if low == a and high == b:
        return 0.0
    if sigma == math.inf:
        return math.log((high - low) / (b - a))
    inside = log_mass_((low - mu) / sigma, (high - mu) / sigma)
    return min(inside - log_mass_((a - mu) / sigma, (b - mu) / sigma), 0.0)


@inner
def log_norm_(a: float, b: float, mu: float, sigma: float) -> float:
    """What log density at x has besides −½ ((x − μ)/σ)², so that a density costs one multiplication."""
    if sigma == math.inf:
        return -math.log(b - a)
    if a == -math.inf and b == math.inf:
        return -math.log(sigma) - LOG_SQRT_2PI
    return -math.log(sigma) - LOG_SQRT_2PI - log_mass_((a - mu) / sigma, (b - mu) / sigma)


@inner
def truncated_logpdf_(x: float, a: float, b: float, mu: float, sigma: float) -> float:
    """Log density at x; −∞ outside (a, b]."""
    if not (x > a and x <= b):
        return -math.inf
    z = (x - mu) / sigma
    return log_norm_(a, b, mu, sigma) - 0.5 * z * z


@inner
def truncated_mean_(a: float, b: float, mu: float, sigma: float) -> float:
    """Mean: μ + σ (φ(α) − φ(β)) / (Φ(β) − Φ(α))."""
    if sigma == math.inf:
        return 0.5 * (a + b)
    alpha, beta = (a - mu) / sigma, (b - mu) / sigma
    if beta - alpha < _SHORT:
        return 0.5 * (a + b)
    log_z = log_mass_(alpha, beta)
    shift = math.exp(-0.5 * alpha * alpha - LOG_SQRT_2PI - log_z) - math.exp(-0.5 * beta * beta - LOG_SQRT_2PI - log_z)
    return min(max(mu + sigma * shift, a), b)


@inner
def _central_quantile(q: float) -> float:
    """AS 241, |q| ≤ 0.425 with q = p − ½."""
    r = 0.180625 - q * q
    above = (
        ((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r + 6.7265770927008700853e4) * r
            + 4.5921953931549871457e4) * r + 1.3731693765509461125e4) * r + 1.9715909503065514427e3) * r
            + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
    )  # fmt: skip
    below = (
        ((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r + 3.9307895800092710610e4) * r
            + 2.1213794301586595867e4) * r + 5.3941960214247511077e3) * r + 6.8718700749205790830e2) * r
            + 4.2313330701600911252e1) * r + 1.0
    )  # fmt: skip
    return q * above / below


@inner
def _tail_quantile(log_p: float) -> float:
    """AS 241 for the lower tail, from log p so that p may be below the smallest float."""
    r = math.sqrt(-log_p)
    if r <= 5.0:
        r -= 1.6
        above = (
            ((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r + 2.41780725177450611770e-1) * r
                + 1.27045825245236838258e0) * r + 3.64784832476320460504e0) * r + 5.76949722146069140550e0) * r
                + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
        )  # fmt: skip
        below = (
            ((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r + 1.51986665636164571966e-2) * r
                + 1.48103976427480074590e-1) * r + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
                + 2.05319162663775882187e0) * r + 1.0
        )  # fmt: skip
        return -above / below
    x = -math.sqrt(-2.0 * log_p)
    for _ in range(6):  # Newton on log Φ(x) = log p: concave, so it converges from either side
        value = log_ndtr_(x)
        x -= (value - log_p) / math.exp(-0.5 * x * x - LOG_SQRT_2PI - value)
    return x


@inner
def ndtri_exp_(log_p: float) -> float:
    """The x with log Φ(x) = log p, for log p ≤ log ½ or a little above."""
    if log_p == -math.inf:
        return -math.inf
    p = math.exp(log_p)
    if p > 0.075:
        return _central_quantile(p - 0.5) if p < 0.925 else -_tail_quantile(math.log(-math.expm1(log_p)))
    return _tail_quantile(log_p)


@inner
def ndtr_(x: float) -> float:
    """Φ(x)."""
    return 0.5 * math.erfc(-x * _SQRT_HALF)


_KNOTS_PER_UNIT, _LAST_KNOT = 32.0, 9.0
_KNOTS = np.arange(-_LAST_KNOT, _LAST_KNOT + 0.5 / _KNOTS_PER_UNIT, 1.0 / _KNOTS_PER_UNIT)
_PDF_AT_KNOTS = np.exp(-0.5 * _KNOTS * _KNOTS) * _INV_SQRT_2PI
_CDF_AT_KNOTS = np.array([0.5 * math.erfc(-knot * _SQRT_HALF) for knot in _KNOTS.tolist()])


@njit(inline="always")
def quick_ndtr_(x):  # type: ignore[no-untyped-def]
    """Φ(x) for |x| ≤ 9 (nearer beyond), to 1e-11 and, in the lower tail, to 1e-7 of itself.

    Five terms of Taylor's series about the nearest of 577 knots: a quarter of the time of `erfc`.
    """
    x = min(max(x, -_LAST_KNOT), _LAST_KNOT)
    place = np.uint64(np.int64((x + _LAST_KNOT) * _KNOTS_PER_UNIT + 0.5))  # to unsigned directly takes longer
    t = _KNOTS[place]
    d = x - t
    series = 1.0 + d * (-t / 2.0 + d * ((t * t - 1.0) / 6.0 - d * t * (t * t - 3.0) / 24.0))
    return _CDF_AT_KNOTS[place] + _PDF_AT_KNOTS[place] * d * series


@kernel
def ndtri_(p: float) -> float:
    """Φ⁻¹(p), ±∞ from 0 downwards and from 1 upwards."""
    q = p - 0.5
    if abs(q) <= 0.425:
        return _central_quantile(q)
    if q < 0.0:
        return _tail_quantile(math.log(p)) if p > 0.0 else -math.inf
    return -_tail_quantile(math.log1p(-p)) if p < 1.0 else math.inf


_QUANTILES = 1024
_SCORE_AT_KNOTS = np.array([0.0] + [ndtri_(k / _QUANTILES) for k in range(1, _QUANTILES)] + [0.0])
_SLOPE_AT_KNOTS = np.exp(0.5 * _SCORE_AT_KNOTS**2) / _INV_SQRT_2PI


@njit(inline="always")
def is_central_(p):  # type: ignore[no-untyped-def]
    """Whether `central_ndtri_` knows Φ⁻¹(p)."""
    return p > 1.0 / 64.0 and p < 63.0 / 64.0


@njit(inline="always")
def central_ndtri_(p):  # type: ignore[no-untyped-def]
    """Φ⁻¹(p) to 1e-7: four terms of Taylor's series about the nearest of 1,023 knots."""
    near = np.int64(p * _QUANTILES + 0.5)
    place = np.uint64(near)
    z, slope = _SCORE_AT_KNOTS[place], _SLOPE_AT_KNOTS[place]
    d = (p - near * (1.0 / _QUANTILES)) * slope
    return z + d * (1.0 + d * (z / 2.0 + d * ((1.0 + 2.0 * z * z) / 6.0 + d * z * (7.0 + 6.0 * z * z) / 24.0)))


@njit(inline="always")
def quick_ndtri_(p):  # type: ignore[no-untyped-def]
    """Φ⁻¹(p) to 1e-7, by `ndtri_` in the tails."""
    return central_ndtri_(p) if is_central_(p) else ndtri_(p)


@inner
def truncated_ppf_(u: float, a: float, b: float, mu: float, sigma: float) -> float:
    """The u-quantile of the normal truncated to (a, b]; never outside [a, b]."""
    if sigma == math.inf:
        return min(max(a + u * (b - a), a), b)
    alpha, beta = (a - mu) / sigma, (b - mu) / sigma
    if beta - alpha < _SHORT:
        return min(max(a + u * (b - a), a), b)
    mirrored = alpha > 0.0
    if mirrored:
        alpha, beta, u = -beta, -alpha, 1.0 - u
    if beta > 0.0:
        low, high = 0.5 * math.erfc(-alpha * _SQRT_HALF), 0.5 * math.erfc(-beta * _SQRT_HALF)
        p = low + u * (high - low)
        if p > 0.5:
            upper = 0.5 * math.erfc(beta * _SQRT_HALF) + (1.0 - u) * (high - low)
            z = -ndtri_exp_(math.log(upper)) if upper > 0.0 else beta
        else:
            z = ndtri_exp_(math.log(p)) if p > 0.0 else alpha
    else:
        log_low, log_high = log_ndtr_(alpha), log_ndtr_(beta)
        ratio = math.exp(log_low - log_high)
        z = ndtri_exp_(log_high + math.log(ratio + u * (1.0 - ratio))) if ratio + u > 0.0 else alpha
    x = mu + sigma * (-z if mirrored else z)
    return min(max(x, a), b)


@njit(inline="always")
def _quick_tail(x: float, pdf: float) -> float:
    """1 − Φ(x) for x ≥ 0 to 7.5e-8 (Abramowitz and Stegun, 26.2.17), given φ(x)."""
    t = 1.0 / (1.0 + 0.2316419 * x)
    return pdf * t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))


@inner
def _moments(alpha: float, beta: float) -> tuple[float, float, float, float, float]:
    """Log mass and the first four moments of the standard normal truncated to (α, β].

    To six digits where the mass is above 0.05, which is what a fit needs and takes a third of the time.
    """
    low = math.exp(-0.5 * alpha * alpha) * _INV_SQRT_2PI if alpha > -math.inf else 0.0
    high = math.exp(-0.5 * beta * beta) * _INV_SQRT_2PI if beta < math.inf else 0.0
    below = _quick_tail(abs(alpha), low) if low > 0.0 else 0.0
    above = _quick_tail(abs(beta), high) if high > 0.0 else 0.0
    if alpha > 0.0:
        mass = below - above
    elif beta < 0.0:
        mass = above - below
    else:
        mass = 1.0 - below - above
    if mass > 0.05:
        log_z, low, high = math.log(mass), low / mass, high / mass
    else:
        log_z = log_mass_(alpha, beta)
        low = math.exp(-0.5 * alpha * alpha - LOG_SQRT_2PI - log_z) if alpha > -math.inf else 0.0
        high = math.exp(-0.5 * beta * beta - LOG_SQRT_2PI - log_z) if beta < math.inf else 0.0
    first, second, third, fourth = low - high, 1.0, 0.0, 0.0
    if low > 0.0:
        second, third, fourth = 1.0 + alpha * low, alpha * alpha * low, alpha * alpha * alpha * low
    if high > 0.0:
        second, third, fourth = second - beta * high, third - beta * beta * high, fourth - beta * beta * beta * high
    return log_z, first, second, third + 2.0 * first, fourth + 3.0 * second


FAR = 3.0  # bounds farther than this many standard deviations from the mean change nothing worth fitting
WIDEST = 8.0  # largest σ in standard deviations of the sample: nearly exponential, or nearly flat between two bounds


@inner
def fit_(mean: float, sd: float, a: float, b: float, tolerance: float) -> tuple[float, float]:
    """Maximum-likelihood μ and σ of a normal truncated to (a, b], from the sample's mean and standard deviation.

    In units of the sample (z = (x − mean)/sd) the density is exp(θ₁ z + θ₂ z² − A(θ)) and the negative
    log-likelihood A(θ) − θ₂ is convex: Newton with halved steps finds its minimum, to `tolerance` nats per row, as a
    step gains half of what its length times the gradient says. θ₂ is kept below −1/(2 WIDEST²),
    since samples flatter than that (or U-shaped) would drive σ to infinity.
    """
    low, high = (a - mean) / sd, (b - mean) / sd
    if low < -FAR and high > FAR:
        return mean, sd
    cap = -0.5 / (WIDEST * WIDEST)
    t1, t2 = 0.0, -0.5
    mu, sigma = 0.0, 1.0
    log_z, m1, m2, m3, m4 = _moments(low, high)
    loss = log_z + LOG_SQRT_2PI + 0.5
    for _ in range(30):
        # moments of z = μ + σ t and the covariance of (z, z²), the Hessian of A
        s1, s2, s3, s4 = sigma * m1, sigma * sigma * m2, sigma**3 * m3, sigma**4 * m4
        e1 = mu + s1
        e2 = mu * (mu + 2.0 * s1) + s2
        e3 = mu * (mu * (mu + 3.0 * s1) + 3.0 * s2) + s3
        e4 = mu * (mu * (mu * (mu + 4.0 * s1) + 6.0 * s2) + 4.0 * s3) + s4
        g1, g2 = e1, e2 - 1.0
        h11, h12, h22 = e2 - e1 * e1, e3 - e1 * e2, e4 - e2 * e2
        at_cap = t2 >= cap and g2 < 0.0
        det = h11 * h22 - h12 * h12
        if at_cap or not det > 1e-12 * h11 * h22:
            d1, d2 = -g1 / max(h11, 1e-12), 0.0
        else:
            d1, d2 = (h12 * g2 - h22 * g1) / det, (h12 * g1 - h11 * g2) / det
        if abs(d1 * g1 + d2 * g2) < 2.0 * tolerance:
            break
        step, improved = 1.0, False
        for _ in range(12):
            n1, n2 = t1 + step * d1, min(t2 + step * d2, cap)
            variance = -0.5 / n2
            n_sigma, n_mu = math.sqrt(variance), n1 * variance
            n_log_z, q1, q2, q3, q4 = _moments((low - n_mu) / n_sigma, (high - n_mu) / n_sigma)
            n_loss = n_log_z + math.log(n_sigma) + LOG_SQRT_2PI + 0.5 * n_mu * n1 - n2
            if n_loss < loss:
                improved = True
                break
            step *= 0.5
        if not improved:
            break
        t1, t2, mu, sigma, loss = n1, n2, n_mu, n_sigma, n_loss
        m1, m2, m3, m4 = q1, q2, q3, q4
    return mean + sd * mu, sd * sigma


def _elementwise(loop: Callable[..., None], *arguments: Any) -> Any:
    """What a loop over flat arrays makes of arguments that are broadcast against each other."""
    arrays = np.broadcast_arrays(*(np.asarray(argument, np.float64) for argument in arguments))
    out = np.empty(arrays[0].shape)
    loop(*(array.flatten() for array in arrays), out.ravel())
    return out[()]


@kernel
def _log_ndtr(x, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = log_ndtr_(x[i])


@kernel
def _log_interval_mass(low, high, a, b, mu, sigma, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = log_interval_mass_(low[i], high[i], a[i], b[i], mu[i], sigma[i])


@kernel
def _truncated_logpdf(x, a, b, mu, sigma, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = truncated_logpdf_(x[i], a[i], b[i], mu[i], sigma[i])


@kernel
def _truncated_mean(a, b, mu, sigma, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = truncated_mean_(a[i], b[i], mu[i], sigma[i])


@kernel
def _truncated_ppf(u, a, b, mu, sigma, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = truncated_ppf_(u[i], a[i], b[i], mu[i], sigma[i])


def log_ndtr(x: Any) -> Any:
    """Log Φ(x), elementwise."""
    return _elementwise(_log_ndtr, x)


def log_interval_mass(low: Any, high: Any, a: Any, b: Any, mu: Any, sigma: Any) -> Any:
    """Log probability of (low, high] under the normal truncated to (a, b], elementwise."""
    return _elementwise(_log_interval_mass, low, high, a, b, mu, sigma)


def truncated_logpdf(x: Any, a: Any, b: Any, mu: Any, sigma: Any) -> Any:
    """Log density at x of the normal truncated to (a, b], elementwise."""
    return _elementwise(_truncated_logpdf, x, a, b, mu, sigma)


def truncated_mean(a: Any, b: Any, mu: Any, sigma: Any) -> Any:
    """Mean of the normal truncated to (a, b], elementwise."""
    return _elementwise(_truncated_mean, a, b, mu, sigma)


def truncated_ppf(u: Any, a: Any, b: Any, mu: Any, sigma: Any) -> Any:
    """Quantile u of the normal truncated to (a, b], elementwise."""
    return _elementwise(_truncated_ppf, u, a, b, mu, sigma)
