"""The addresses of the package come from `settings.ini`; while it names none there are none, and README's links stay as they are."""

import configparser
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    "Fills in `urls` and `readme`."

    def update(self, metadata: dict) -> None:
        "Links of README lead to the repository, since the page of an index has no files."
        settings = configparser.ConfigParser()
        settings.read(Path(self.root) / "settings.ini", encoding="utf8")
        names = ("git_url", "doc_host", "doc_baseurl", "branch")
        home, host, base, branch = (settings["DEFAULT"][name].rstrip("/") for name in names)
        text = (Path(self.root) / "README.md").read_text(encoding="utf8")
        metadata["urls"] = {"Documentation": host + base} if host else {}
        if home:
            metadata["urls"] |= {"Source": home, "Changes": f"{home}/blob/{branch}/CHANGELOG.md", "Issues": f"{home}/issues"}
            text = re.sub(r"\]\((?!http|#)", rf"]({home}/blob/{branch}/", text)
            text = re.sub(r"!\[([^\]]*)\]\((\S+?)/blob/", r"![\1](\2/raw/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
