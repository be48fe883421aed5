//! Linux: the mask of ignored signals in `/proc/self/status` (proc(5)), bit n − 1 for signal n.

pub fn is_ignored(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    u32::try_from(signal - 1)
        .is_ok_and(|bit| mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1))
}
