//! Control groups that leave a process a share of a processor: of the first version, and of the second.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = "/sys/fs/cgroup";
const PERIOD_US: u64 = 100_000;
const PREFIX: &str = "pathscope-verdicts-";
/// Kernels take no less.
const LEAST_US: u64 = 1_000;

/// A control group, gone when dropped, of processes that have ended by then.
#[derive(Debug)]
pub struct Quota {
    folder: PathBuf,
    is_first_version: bool,
}

impl Quota {
    /// A group without a limit; or why there can be none.
    pub fn new(name: &str) -> Result<Self, String> {
        let name = format!("{PREFIX}{name}-{}", std::process::id());
        let first = Path::new(ROOT).join("cpu");
        let is_first_version = first.is_dir();
        let parent = if is_first_version { first } else { PathBuf::from(ROOT) };
        clear(&parent);
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let quota = Self { folder, is_first_version };
        quota.limit(None)?;
        Ok(quota)
    }

    /// From now on this share of a processor, or as much as there is.
    pub fn limit(&self, share: Option<f64>) -> Result<(), String> {
        let most = share.map(|share| ((share * PERIOD_US as f64) as u64).max(LEAST_US));
        if self.is_first_version {
            self.write("cpu.cfs_period_us", &PERIOD_US.to_string())?;
            self.write("cpu.cfs_quota_us", &most.map_or("-1".to_owned(), |most| most.to_string()))
        } else {
            let most = most.map_or("max".to_owned(), |most| most.to_string());
            self.write("cpu.max", &format!("{most} {PERIOD_US}"))
        }
    }

    fn write(&self, file: &str, value: &str) -> Result<(), String> {
        let path = self.folder.join(file);
        fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The program, in the group from its beginning.
    pub fn wrap(&self, program: &Command) -> Command {
        let enter =
            format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", self.folder.display());
        let mut command = Command::new("sh");
        command.args(["-c", &enter]).arg(program.get_program()).args(program.get_args());
        command
    }
}

/// Removes what tasks that were broken off have left: groups of processes that are gone.
fn clear(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner);
        if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The process that made a group of this name.
fn owner(name: &str) -> Option<&str> {
    let (_, process) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    Some(process).filter(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Empty, since what ran in it has been waited for; where it is not, the machine keeps a folder.
        let _ = fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_tells_whose_it_is() {
        assert_eq!(owner("pathscope-verdicts-client-4711"), Some("4711"));
        for other in ["pathscope-verdicts-client-", "pathscope-verdicts-7", "system.slice", ""] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
