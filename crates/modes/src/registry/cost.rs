//! What it costs an end to move bytes.

use super::EndReport;

impl EndReport {
    /// Processor time of its workers for 10^9 of the bytes that it moved, in nanoseconds; nothing where nothing moved. To be asked
    /// before any worker is left out of the report.
    pub fn cpu_per_gigabyte(&self, moved_bytes: u64) -> Option<f64> {
        let workers = self.workers.iter();
        let cpu_ns: u64 = workers.map(|it| it.user_ns.saturating_add(it.system_ns)).sum();
        let is_known = moved_bytes > 0 && !self.workers.is_empty();
        is_known.then(|| cpu_ns as f64 / (moved_bytes as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::WorkerUsage;

    use super::*;

    #[test]
    fn a_gigabyte_costs_the_time_of_all_workers_of_an_end() {
        let usage =
            |user_ns, system_ns| WorkerUsage { user_ns, system_ns, ..WorkerUsage::default() };
        let workers = vec![usage(1_000_000_000, 500_000_000), usage(0, 500_000_000)];
        let end = EndReport { workers, ..EndReport::default() };
        assert_eq!(end.cpu_per_gigabyte(4_000_000_000), Some(500_000_000.0));
        assert_eq!(end.cpu_per_gigabyte(0), None);
        assert_eq!(EndReport::default().cpu_per_gigabyte(1), None, "nothing is known of workers");
    }
}
