//! Linux: `/proc/interrupts` (proc(5)).

use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Reading(BTreeMap<String, u64>);

impl Reading {
    pub fn now() -> Self {
        Self(rows(&std::fs::read_to_string("/proc/interrupts").unwrap_or_default()))
    }

    pub fn since(&self, earlier: &Self) -> Vec<(String, u64)> {
        let row = |(name, count): (&String, &u64)| {
            // One that came up meanwhile counts from zero.
            let moved = count.saturating_sub(earlier.0.get(name).copied().unwrap_or(0));
            (moved > 0).then(|| (name.clone(), moved))
        };
        self.0.iter().filter_map(row).collect()
    }
}

/// Each row's name and description, as one text, and the sum of its counts: as many as there are processors in the first line, or fewer.
fn rows(table: &str) -> BTreeMap<String, u64> {
    let mut lines = table.lines();
    let processors = lines.next().map_or(0, |first| first.split_ascii_whitespace().count());
    let row = |line: &str| {
        let (name, mut rest) = line.trim().split_once(':')?;
        let mut sum = 0_u64;
        for _ in 0..processors {
            let text = rest.trim_start();
            let (word, behind) =
                text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
            let Ok(count) = word.parse::<u64>() else { break };
            sum = sum.saturating_add(count);
            rest = behind;
        }
        Some((format!("{name}: {}", rest.trim()), sum))
    };
    lines.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "           CPU0       CPU1       \n 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n \
                         41:      26291          9 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx\n \
                         42:          0      95502 PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx\n\
                         NMI:          0          0   Non-maskable interrupts\nHYP:         42         76   Hypervisor callback interrupts\n\
                         ERR:          7\nMIS:          0\n";

    fn reading(table: &str) -> Reading {
        Reading(rows(table))
    }

    #[test]
    fn counts_of_all_processors_are_summed_and_words_of_a_row_are_none() {
        let found = reading(TABLE).since(&reading(""));
        let expected = [
            ("24: IO-APIC   5-edge      ACPI:Ged", 1),
            ("41: PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx", 26_300),
            ("42: PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx", 95_502),
            ("ERR: ", 7),
            ("HYP: Hypervisor callback interrupts", 118),
        ];
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
    }

    #[test]
    fn a_difference_has_what_has_moved_and_what_came_up() {
        let later = TABLE
            .replace("26291", "26300")
            .replace("ERR:", " 50:          3          4  GICv3  27 Level     eth9-0\nERR:");
        let expected = [
            ("41: PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx", 9),
            ("50: GICv3  27 Level     eth9-0", 7),
        ];
        let found = reading(&later).since(&reading(TABLE));
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
        assert!(reading(TABLE).since(&reading(&later)).is_empty(), "nothing goes back");
    }

    #[test]
    fn nonsense_is_nothing_and_a_processor_that_is_gone_is_no_word() {
        assert!(rows("").is_empty() && rows("CPU0\nno row\n").is_empty());
        // A row has fewer counts than there are processors where it is of the whole machine.
        assert_eq!(rows("CPU0 CPU1\nERR: 3\n")["ERR: "], 3);
        assert_eq!(rows("CPU0 CPU1\n1: 3 x 5\n")["1: x 5"], 3);
    }

    #[test]
    fn this_machine_is_interrupted() {
        let before = Reading::now();
        assert!(Reading::now().0.len() >= before.0.len());
    }
}
