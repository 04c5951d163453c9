/// How far off an offset can be at most that is measured by exchanges of these lengths, whatever `ServerClock` makes of
/// them as long as it keeps to its word: single samples are cut to seconds and taken somewhere in an exchange, five
/// seconds are taken for noise and evened out, more is believed at once.
struct ClockCheck {
    /// Nil before the first answer.
    private(set) var uncertainty: Duration?

    mutating func observe(exchange: Duration) {
        let sample = .milliseconds(510) + exchange / 2
        guard let before = uncertainty else {
            uncertainty = sample
            return
        }
        let noise = .seconds(5) + exchange / 2 + sample
        if exchange <= .seconds(2) {
            uncertainty = max(sample, min(before, noise) * 0.8 + sample * 0.2)
        } else if before > .milliseconds(4400) {
            // Far enough off to be replaced by a sample that says little.
            uncertainty = max(before, sample)
        }
    }
}
