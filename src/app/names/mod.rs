//! One name for one thing: finds a repository, a work tree, a database or a directory, and gives its lane.
//! `Surroundings::name` names a thing, and `lane_option` reads the value of `--lane`: a lane, or such a name (`@KIND`). Where a
//! user or a lane is asked for, a bare word is a user, never a lane (contract, section 4); `check_word` refuses an unknown user
//! while the lane of that name is in use.

pub mod shims;

use crate::app::fleet::lanes;
use crate::app::query::list::{Filter, list};
use crate::app::queue::enqueue::name;
use crate::app::{App, AppError, Code, Kind, config_reload};
use crate::model::control::Held;
use crate::model::lane::BUILT_IN;
use crate::model::queue::{QueueName, digest};
use crate::model::{LaneName, Task, ThingKind};
use crate::os::StartError;
use crate::os::places::{NoPlaces, Place, Places};
use crate::policy::naming::{self, Database, Remote};
use crate::request::TaskRequest;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Number of missing folders above a file that are looked through.
const MOST_FOLDERS: usize = 64;

/// The context in which names are looked up: the places of this host, and the directory from which relative paths count.
#[derive(Clone)]
pub struct Surroundings {
    places: Arc<dyn Places>,
    cwd: Result<String, String>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { places: Arc::new(NoPlaces), cwd: Err("it is not known".to_owned()) }
    }
}

/// A thing that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The lane of the thing.
    pub lane: LaneName,
    /// The path of the thing, if it is a directory or a file.
    pub path: Option<String>,
    /// The kind of the thing.
    pub kind: ThingKind,
}

/// A repository that was found.
struct Repository {
    /// The top directory of the work tree; `None` for a bare repository.
    work_tree: Option<String>,
    /// The directory of `HEAD`.
    git_dir: String,
    /// The directory that all work trees share.
    common: String,
}

impl Surroundings {
    /// The places of a host as a process in a working directory sees them.
    pub fn new(places: Arc<dyn Places>, cwd: Result<String, String>) -> Self {
        Self { places, cwd }
    }

    /// Names a thing: `arg` is the directory, the port or the database; `base` is the directory from which a relative path
    /// counts, by default the working directory.
    pub fn name(&self, kind: ThingKind, arg: Option<&str>, base: Option<&str>) -> Result<Named, AppError> {
        let (lane, path) = match kind {
            ThingKind::Port => {
                let text = arg.ok_or_else(|| missing(kind, "4010"))?;
                let port = naming::port(text).ok_or_else(|| {
                    AppError::usage(format!("\"{}\" is not a port", shown(text)))
                        .hint("a port is a whole number from 1 to 65535")
                })?;
                (naming::lane("port", &port.to_string()), None)
            }
            ThingKind::Db => match arg.and_then(naming::database) {
                Some(Database::Server(key)) => (naming::lane("db", &key), None),
                Some(Database::File(path)) => {
                    let (key, path) = self.database_file(&self.absolute(&path, base)?)?;
                    (naming::lane("db", &key), Some(path))
                }
                None => return Err(missing(kind, "postgres://localhost/app")),
            },
            ThingKind::Dir => {
                let path = self.directory(arg, base)?;
                (naming::of_directory("dir", self.ident(&path)?), Some(path))
            }
            ThingKind::GitDir => {
                let found = self.repository(arg, base)?;
                (naming::of_directory("git", self.ident(&found.common)?), Some(found.common))
            }
            ThingKind::Tree => {
                let found = self.repository(arg, base)?;
                let path = found.work_tree.ok_or_else(|| {
                    AppError::new(Code::NoWorkTree, format!("\"{}\" is a bare repository", found.common))
                        .hint("git-dir names a repository without a work tree")
                })?;
                (naming::of_directory("tree", self.ident(&path)?), Some(path))
            }
            ThingKind::GitRef => {
                let found = self.repository(arg, base)?;
                let (remote, branch) = self.reference(&found)?;
                (naming::of_branch(&remote, &branch), Some(found.git_dir))
            }
        };
        let lane = lane.map_err(|error| AppError::usage(format!("this {kind} has no lane: {error}")))?;
        Ok(Named { lane, path, kind })
    }

    /// The lane of the work tree of a file, where it is in one. The file and its folders need not exist; a link counts as
    /// the file that it leads to.
    pub fn tree_of_file(&self, path: &str, base: Option<&str>) -> Result<Option<Named>, AppError> {
        let path = self.absolute(path, base)?;
        let path = self.places.canonical(&path).unwrap_or(path);
        let mut folder = path.as_str();
        for _ in 0..MOST_FOLDERS {
            folder = match folder.rsplit_once('/') {
                Some((above, _)) if !above.is_empty() => above,
                _ => "/",
            };
            if self.look(folder)?.is_some_and(|place| place.is_dir) {
                break;
            }
        }
        match self.name(ThingKind::Tree, Some(folder), None) {
            Ok(named) => Ok(Some(named)),
            Err(error) if error.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a program can be started in a working directory, as far as a look shows.
    pub(crate) fn check_program(&self, program: &str, env: &[(Vec<u8>, Vec<u8>)], cwd: &str) -> Result<(), StartError> {
        self.places.check_program(program, env, cwd)
    }

    /// A digest of the content of a git work tree.
    pub(crate) fn tree_digest(&self, top: &str) -> io::Result<String> {
        self.places.tree_digest(top)
    }

    /// The remote and the branch of a repository's `HEAD`. A repository without a remote stands for itself.
    fn reference(&self, found: &Repository) -> Result<(String, String), AppError> {
        let head = self.read(&format!("{}/HEAD", found.git_dir))?.unwrap_or_default();
        let branch = naming::branch(&head).ok_or_else(|| {
            AppError::new(Code::NoBranch, format!("no branch is checked out in \"{}\"", found.git_dir))
                .hint("git-dir and tree name the repository and the work tree")
        })?;
        let config = self.read(&format!("{}/config", found.common))?.unwrap_or_default();
        let remote = match naming::remote_url(&config, branch).as_deref().map(naming::remote) {
            Some(Remote::Host(text)) => text,
            Some(Remote::Path(path)) => {
                let base = found.work_tree.as_deref().unwrap_or(&found.common);
                let path = self.absolute(&path, Some(base))?;
                match self.look(&path)? {
                    Some(place) => naming::identity_text(place.ident),
                    None => path,
                }
            }
            None => naming::identity_text(self.ident(&found.common)?),
        };
        Ok((remote, branch.to_owned()))
    }

    /// A file that a database is or will be in. Its folder and its name count, because a file may be made anew.
    fn database_file(&self, path: &str) -> Result<(String, String), AppError> {
        let path = match self.look(path)? {
            Some(Place { is_dir: true, .. }) => {
                return Err(AppError::usage(format!("\"{path}\" is a directory, and a database is a file or a URL")));
            }
            Some(_) => self.places.canonical(path).map_err(|error| unreadable(path, &error))?,
            None => path.to_owned(),
        };
        let (folder, file) = path.rsplit_once('/').unwrap_or((".", &path));
        let folder = if folder.is_empty() { "/" } else { folder };
        let ident = match self.look(folder)? {
            Some(Place { is_dir: true, ident }) => ident,
            _ => return Err(no_directory(folder)),
        };
        Ok((format!("{}/{file}", naming::identity_text(ident)), path.clone()))
    }

    /// The repository around a directory.
    fn repository(&self, arg: Option<&str>, base: Option<&str>) -> Result<Repository, AppError> {
        let start = self.directory(arg, base)?;
        let mut dir = start.as_str();
        loop {
            if let Some(found) = self.repository_at(dir)? {
                return Ok(found);
            }
            match dir.rsplit_once('/') {
                Some(("", "")) | None => break,
                Some((above, _)) => dir = if above.is_empty() { "/" } else { above },
            }
        }
        Err(AppError::new(Code::NoRepository, format!("\"{start}\" is not in a git repository"))
            .hint("outside a repository, `-l @dir` takes the lane of the directory, which `luzia name dir` names"))
    }

    fn repository_at(&self, dir: &str) -> Result<Option<Repository>, AppError> {
        let dot_git = format!("{}/.git", dir.trim_end_matches('/'));
        let own = Some(dir.to_owned());
        match self.look(&dot_git)? {
            Some(Place { is_dir: true, .. }) if self.is_git_dir(&dot_git)? => self.shared(own, &dot_git).map(Some),
            Some(Place { is_dir: false, .. }) => {
                let broken = || {
                    let message = format!("\"{dot_git}\" names no directory of git");
                    AppError::new(Code::NoRepository, message).hint("`git worktree repair` repairs a moved work tree")
                };
                let text = self.read(&dot_git)?.unwrap_or_default();
                let path = self.absolute(naming::gitdir(&text).ok_or_else(broken)?, Some(dir))?;
                if !self.is_git_dir(&path)? {
                    return Err(broken());
                }
                self.shared(own, &path).map(Some)
            }
            _ if self.is_git_dir(dir)? && self.is_dir(&format!("{dir}/objects"))? => self.shared(None, dir).map(Some),
            _ => Ok(None),
        }
    }

    /// A repository with the directory that its work trees share.
    fn shared(&self, work_tree: Option<String>, git_dir: &str) -> Result<Repository, AppError> {
        let text = self.read(&format!("{git_dir}/commondir"))?;
        let common = match text.as_deref().and_then(naming::commondir) {
            Some(path) => self.absolute(path, Some(git_dir))?,
            None => git_dir.to_owned(),
        };
        let common = self.places.canonical(&common).map_err(|error| unreadable(&common, &error))?;
        Ok(Repository { work_tree, git_dir: git_dir.to_owned(), common })
    }

    fn is_git_dir(&self, path: &str) -> Result<bool, AppError> {
        Ok(matches!(self.look(&format!("{path}/HEAD"))?, Some(Place { is_dir: false, .. })))
    }

    pub(crate) fn is_dir(&self, path: &str) -> Result<bool, AppError> {
        Ok(matches!(self.look(path)?, Some(Place { is_dir: true, .. })))
    }

    /// The directory that is meant, without symbolic links.
    fn directory(&self, arg: Option<&str>, base: Option<&str>) -> Result<String, AppError> {
        let path = self.absolute(arg.unwrap_or("."), base)?;
        if !self.is_dir(&path)? {
            return Err(no_directory(&path));
        }
        self.places.canonical(&path).map_err(|error| unreadable(&path, &error))
    }

    fn absolute(&self, path: &str, base: Option<&str>) -> Result<String, AppError> {
        if path.is_empty() || path.contains('\0') {
            return Err(AppError::usage("an empty argument names no place"));
        }
        if path.starts_with('/') {
            return Ok(path.to_owned());
        }
        let base = match (base, &self.cwd) {
            (Some(base), _) => base,
            (None, Ok(cwd)) => cwd,
            (None, Err(why)) => return Err(AppError::usage(format!("there is no working directory: {why}"))),
        };
        Ok(if path == "." { base.to_owned() } else { format!("{base}/{path}") })
    }

    fn ident(&self, path: &str) -> Result<(u64, u64), AppError> {
        self.look(path)?.map(|place| place.ident).ok_or_else(|| no_directory(path))
    }

    fn look(&self, path: &str) -> Result<Option<Place>, AppError> {
        self.places.look(path).map_err(|error| unreadable(path, &error))
    }

    fn read(&self, path: &str) -> Result<Option<String>, AppError> {
        self.places.read(path).map_err(|error| unreadable(path, &error))
    }
}

/// The lanes that a request names, `--repo` and `--tree` among them. Relative paths count from the directory of the task.
pub(crate) fn named_lanes(app: &App, new: &TaskRequest, cwd: &str) -> Result<Vec<LaneName>, AppError> {
    let mut lanes = Vec::new();
    for text in &new.lanes {
        lanes.push(lane_option(app, text, Some(cwd))?);
    }
    for (kind, dir) in [(ThingKind::GitDir, &new.repo), (ThingKind::Tree, &new.tree)] {
        if let Some(dir) = dir {
            lanes.push(lane_of_thing(app, kind, Some(dir), Some(cwd))?);
        }
    }
    for id in &new.threads {
        lanes.push(LaneName::thread(&name("thread", id)?));
    }
    Ok(lanes)
}

/// Reads the value of `--lane`: a lane, or `@KIND` or `@KIND:ARG` as `luzia name` knows them. `base` is the directory from
/// which a relative path counts, by default the working directory.
pub fn lane_option(app: &App, text: &str, base: Option<&str>) -> Result<LaneName, AppError> {
    match at_lane(app, text, base)? {
        Some(lane) => Ok(lane),
        None => crate::app::queue::enqueue::lane_option(text),
    }
}

/// The lane of a thing, as [`Surroundings::name`] names it.
pub fn lane_of_thing(app: &App, kind: ThingKind, arg: Option<&str>, base: Option<&str>) -> Result<LaneName, AppError> {
    let named = app.surroundings.name(kind, arg, base)?;
    if let Some(path) = named.path {
        app.named.borrow_mut().insert(named.lane.clone(), path);
    }
    Ok(named.lane)
}

/// The path of the thing of a lane, if this process has named it.
pub fn named_place(app: &App, lane: &LaneName) -> Option<String> {
    app.named.borrow().get(lane).cloned()
}

/// The paths of the things of lanes, by the text of the lanes, as far as luzia has seen them named.
pub fn places(app: &App) -> BTreeMap<String, String> {
    // A hint that cannot be read does not fail the command.
    app.store.known_places().unwrap_or_default()
}

/// The lane that `@KIND` or `@KIND:ARG` means; `None` for every other text.
pub(crate) fn at_lane(app: &App, text: &str, base: Option<&str>) -> Result<Option<LaneName>, AppError> {
    let Some(words) = text.strip_prefix('@') else { return Ok(None) };
    let (word, arg) = words.split_once(':').map_or((words, None), |(word, arg)| (word, Some(arg)));
    let kind = ThingKind::parse(word).ok_or_else(|| {
        let kinds: Vec<String> = ThingKind::ALL.iter().map(|kind| format!("@{kind}")).collect();
        AppError::usage(format!("\"{}\" is not a lane that luzia can name", shown(text)))
            .hint(format!("after `@` write a kind of `luzia name`: {}", kinds.join(", ")))
    })?;
    lane_of_thing(app, kind, arg, base).map(Some)
}

fn missing(kind: ThingKind, example: &str) -> AppError {
    AppError::usage(format!("the kind {kind} needs an argument"))
        .hint(format!("write `luzia name {kind} {example}`, or `@{kind}:{example}`"))
}

fn no_directory(path: &str) -> AppError {
    AppError::new(Code::NoDirectory, format!("\"{}\" is not a directory", shown(path)))
}

fn unreadable(path: &str, error: &io::Error) -> AppError {
    let kind = if error.kind() == io::ErrorKind::PermissionDenied { Kind::NoPermission } else { Kind::Io };
    AppError::new(Code::Place, format!("cannot look at \"{}\": {error}", shown(path))).with_kind(kind)
}

fn shown(text: &str) -> String {
    text.chars().take(200).collect::<String>().escape_debug().to_string()
}

/// Number of waiting tasks that are looked at for a lane, and most queues in which that is done.
const MOST_WAITING: usize = 200;
const MOST_QUEUES: usize = 200;

/// Refuses a bare word that was read as an unknown user, while the lane of that name is in use.
pub(crate) fn check_word(app: &App, word: &str, read: &LaneName) -> Result<(), AppError> {
    if !read.is_user() || word.contains(':') {
        return Ok(());
    }
    // Not every command reads the rules. Invalid rules do not decide about the word.
    let _ = config_reload::follow_control(app);
    if mark_of(app, read).is_some() {
        return Ok(());
    }
    let Ok(lane) = LaneName::parse(word) else { return Ok(()) };
    let mark = match mark_of(app, &lane) {
        None if is_waited_for(app, &lane)? => "has a waiting task",
        None => return Ok(()),
        Some(mark) => mark,
    };
    // A task of the user is kept, perhaps a finished one.
    if any_task(app, &Filter { all: true, user: Some(read.key().clone()), ..Filter::default() }, |_| true)? {
        return Ok(());
    }
    let message =
        format!("\"{word}\" is ambiguous: luzia knows no user of that name, and the lane of that name {mark}");
    Err(AppError::usage(message).hint(format!("write lane:{word} for the lane, or user:{word} for the user")))
}

/// Whether luzia knows a lane by a rule, a pause, a lock, a task that is kept, or as the lane of a user for whom it has worked.
/// The lane of a user also counts as known when the lane of the same word does.
pub fn is_known(app: &App, lane: &LaneName) -> Result<bool, AppError> {
    if let Some(fleet) = &app.fleet {
        return lanes::is_known(&**fleet, lane);
    }
    let word = lane.key().as_str();
    let of_word = LaneName::parse(word).ok().filter(|_| lane.is_user());
    let lanes: Vec<&LaneName> = std::iter::once(lane).chain(&of_word).collect();
    let is_user_seen = || app.store.known_users().unwrap_or_default().iter().any(|user| user == lane.key());
    if lanes.iter().any(|lane| is_built_in(lane) || mark_of(app, lane).is_some()) || lane.is_user() && is_user_seen() {
        return Ok(true);
    }
    let is_of = |task: &Task| {
        lane.is_user() && task.user == *lane.key() || task.all_lanes().iter().any(|taken| lanes.contains(&taken))
    };
    any_task(app, &Filter { all: true, ..Filter::default() }, is_of)
}

fn is_built_in(lane: &LaneName) -> bool {
    BUILT_IN.iter().any(|word| lane.is_bare(word))
}

/// A sign that a user or a lane is in use, found without a look at tasks.
fn mark_of(app: &App, lane: &LaneName) -> Option<&'static str> {
    let (config, control) = (config_reload::config(app), config_reload::control(app));
    let is_held_back = control.standing(app.host.now()).any(|hold| hold.held == Held::Lane(lane.clone()));
    let of_projects = config.projects.values().filter_map(|project| project.user.as_ref());
    let is_listed = lane.is_user() && config.users_known.iter().chain(of_projects).any(|user| user == lane.key());
    let marks = [
        (is_listed || config.lanes.contains_key(&lane.to_string()), "has a rule"),
        (is_held_back, "is paused"),
        (app.store.is_taken(lane), "has a lock"),
    ];
    marks.into_iter().find_map(|(is_so, mark)| is_so.then_some(mark))
}

/// Whether a task waits for a lane, as far as the first waiting tasks show. Of very many queues only the names are looked at.
fn is_waited_for(app: &App, lane: &LaneName) -> Result<bool, AppError> {
    if !app.store.has_layout()? {
        return Ok(false);
    }
    let queues: Vec<String> = app.store.lanes_with_work()?.into_values().flat_map(BTreeMap::into_keys).collect();
    let alone = digest(&lane.to_string());
    let is_alone = |queue: &&String| QueueName::parse(queue).is_some_and(|name| name.lanes == Some(alone.as_str()));
    for queue in queues.iter().filter(is_alone) {
        if app.store.any_of_queue(queue)?.is_some() {
            return Ok(true);
        }
    }
    if queues.len() > MOST_QUEUES {
        return Ok(false);
    }
    let waiting = app.store.pending_tasks(None)?.take(MOST_WAITING).chain(app.store.started_tasks());
    // `doctor` reports a damaged record.
    Ok(waiting.flatten().any(|task| task.lanes.contains(lane)))
}

/// Whether a task of a filter is one of those that are meant. Damaged records are passed over.
fn any_task(app: &App, filter: &Filter, is_meant: impl Fn(&Task) -> bool) -> Result<bool, AppError> {
    let mut found = false;
    list(app, filter, &mut |task| {
        found |= task.is_ok_and(|task| is_meant(&task));
        !found
    })?;
    Ok(found)
}
