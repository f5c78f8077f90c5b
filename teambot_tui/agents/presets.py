"""The agents that are known by name, so that `backend = "claude"` is enough: how each is started and found.

Only what a preset names is passed on to its program. None of them is told to do anything unasked: whoever
wants that writes a table of the same name, which takes the preset's place.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_NETWORK: Final = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy")
_NODE: Final = (*_NETWORK, "NODE_EXTRA_CA_CERTS")
_MODEL: Final = ("--model={model}",)
_PERSONA: Final = ("--append-system-prompt={system}",)
_ONLY_ANSWERS: Final[tuple[str, ...]] = ()
"""What holds a program to reading that does nothing else anyway."""


@dataclass(frozen=True, slots=True)
class Login:
    """How an agent knows its user: variables that hold a key, files that hold a login, and what to do.

    A file is given as the variable that can name its directory, that directory below the user's home
    otherwise, and its name.
    """

    variables: tuple[str, ...] = ()
    files: tuple[tuple[str, str, str], ...] = ()
    how: str = ""
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Preset:
    """An agent that is known by name; of several `commands` the first that is installed counts."""

    name: str
    title: str
    type: str
    commands: tuple[tuple[str, ...], ...]
    install: str
    login: Login
    variables: tuple[str, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    version: tuple[str, ...] = ("--version",)

    def command(self) -> tuple[str, ...]:
        """Return the command that is installed, or else the one to install."""
        return next((each for each in self.commands if shutil.which(each[0])), self.commands[0])

    def path(self) -> str | None:
        """Return where the program is, or None if it is not on PATH."""
        return shutil.which(self.command()[0])

    def backend_options(self) -> Mapping[str, object]:
        """Return the options for a backend of its type."""
        options: dict[str, object] = {
            "command": self.command(),
            "env": dict.fromkeys((*self.login.variables, *self.variables)),
            **self.options,
        }
        if self.type == "acp" and self.login.how:
            options["login"] = self.login.how
        return MappingProxyType(options)


@dataclass(frozen=True, slots=True)
class Server:
    """A server for models that listens on this machine, where it does so unless told otherwise."""

    name: str
    title: str
    port: int

    @property
    def address(self) -> str:
        """Where its OpenAI-compatible interface begins."""
        return f"http://127.0.0.1:{self.port}/v1"


_CLAUDE: Final = Login(
    ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    (("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"),),
    "run `claude` and type /login",
)
_CLAUDE_KNOWS: Final = (
    *("ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_CUSTOM_HEADERS"),
    *("ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"),
    *("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
    *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", *_NODE),
)
_CODEX: Final = Login(
    ("CODEX_API_KEY", "OPENAI_API_KEY"), (("CODEX_HOME", ".codex", "auth.json"),), "run `codex login`"
)
_CODEX_KNOWS: Final = ("CODEX_HOME", "CODEX_PATH", "OPENAI_BASE_URL", *_NODE)
_GEMINI: Final = Login(
    ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    (("", ".gemini", "oauth_creds.json"),),
    "run `gemini` and choose how to log in",
)
_GEMINI_KNOWS: Final = (
    *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI"),
    *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GEMINI_MODEL", "GEMINI_CLI_HOME"),
    *("GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_SANDBOX", *_NODE),
)
_COPILOT: Final = Login(
    ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"),
    (),
    "run `copilot` and type /login",
)
_COPILOT_KNOWS: Final = (
    *(
        "COPILOT_HOME",
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "COPILOT_AUTO_UPDATE",
        "COPILOT_GH_HOST",
        "GH_HOST",
    ),
    *("COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY"),
    *("COPILOT_PROVIDER_API_KEY_COMMAND", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_HEADERS"),
    *("COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_TRANSPORT", "COPILOT_PROVIDER_AZURE_API_VERSION"),
    *("COPILOT_PROVIDER_MODEL_ID", "COPILOT_PROVIDER_WIRE_MODEL"),
    *("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", *_NODE),
)
_PROVIDER_KEYS: Final = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
    *("GROQ_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY"),
)
_OPENCODE: Final = Login(
    ("OPENCODE_API_KEY", *_PROVIDER_KEYS),
    (("XDG_DATA_HOME", ".local/share", "opencode/auth.json"),),
    "run `opencode auth login`",
)
_OPENCODE_KNOWS: Final = (
    *(
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
    ),
    *_NODE,
)
_QWEN: Final = Login(
    ("OPENAI_API_KEY", "DASHSCOPE_API_KEY"), (("", ".qwen", "oauth_creds.json"),), "run `qwen` and type /auth"
)
_QWEN_KNOWS: Final = ("OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_BASE_URL", *_NODE)

_ALL: Final = (
    Preset(
        *("claude", "Claude Code", "acp", (("claude-agent-acp",), ("claude-code-acp",))),
        install="npm install -g @agentclientprotocol/claude-agent-acp",
        login=_CLAUDE,
        variables=_CLAUDE_KNOWS,
        version=(),  # it answers every argument by waiting for a client
        options={"agents_md": True, "claude_options": True, "read_only_mode": "plan"},
    ),
    Preset(
        *("codex", "Codex", "acp", (("codex-acp",),)),
        install="npm install -g @agentclientprotocol/codex-acp, or Zed's: @zed-industries/codex-acp",
        login=_CODEX,
        variables=_CODEX_KNOWS,
        options={"read_only_mode": "read-only"},
    ),
    Preset(
        *("gemini", "Gemini CLI", "acp", (("gemini", "--acp"),)),
        install="npm install -g @google/gemini-cli",
        login=_GEMINI,
        variables=_GEMINI_KNOWS,
        options={"agents_md": True, "read_only_mode": "plan"},
    ),
    Preset(
        *("copilot", "GitHub Copilot CLI", "acp", (("copilot", "--acp"),)),
        install="npm install -g @github/copilot",
        login=_COPILOT,
        variables=_COPILOT_KNOWS,
    ),
    Preset(
        *("opencode", "OpenCode", "acp", (("opencode", "acp"),)),
        install="npm install -g opencode-ai",
        login=_OPENCODE,
        variables=_OPENCODE_KNOWS,
        options={"read_only_mode": "plan"},
    ),
    Preset(
        *("qwen", "Qwen Code", "acp", (("qwen", "--acp"),)),
        install="npm install -g @qwen-code/qwen-code",
        login=_QWEN,
        variables=_QWEN_KNOWS,
        options={"read_only_mode": "plan"},
    ),
    Preset(
        *("vibe", "Mistral Vibe", "acp", (("vibe-acp",),)),
        install="pip install mistral-vibe",
        login=Login(("MISTRAL_API_KEY",), (("VIBE_HOME", ".vibe", ".env"),), "run `vibe --setup`"),
        variables=("VIBE_HOME", *_NETWORK),
        options={"read_only_mode": "ask"},
    ),
    Preset(
        *("goose", "goose", "acp", (("goose", "acp"),)),
        install="npm install -g @aaif/goose",
        login=Login(
            _PROVIDER_KEYS, (("XDG_CONFIG_HOME", ".config", "goose/config.yaml"),), "run `goose configure`"
        ),
        variables=(
            *("GOOSE_PROVIDER", "GOOSE_MODEL", "OPENAI_HOST", "OPENAI_BASE_PATH", "ANTHROPIC_HOST"),
            *("OLLAMA_HOST", *_NETWORK),
        ),
        options={"read_only_mode": "chat"},
    ),
    Preset(
        *("fast-agent", "fast-agent", "acp", (("fast-agent-acp",),)),
        install="pip install fast-agent-acp",
        login=Login(
            (*_PROVIDER_KEYS, "GENERIC_API_KEY"),
            (("", "", "fastagent.secrets.yaml"),),
            "set the key of your provider, or GENERIC_BASE_URL and GENERIC_API_KEY for a server of your own",
        ),
        variables=("GENERIC_BASE_URL", *_NETWORK),
    ),
    Preset(
        "claude-cli",
        "Claude Code, one run a task",
        "command",
        (
            (
                *("claude", "-p", "--output-format", "stream-json"),
                *("--verbose", "--include-partial-messages"),
            ),
        ),
        install="npm install -g @anthropic-ai/claude-code",
        login=_CLAUDE,
        variables=_CLAUDE_KNOWS,
        options={
            "stream": "claude-json",
            "model_arguments": _MODEL,
            "system_arguments": _PERSONA,
            # Our tools ask the person themselves before anything is started.
            "tool_arguments": ("--mcp-config={tools}", "--allowedTools=mcp__{tools_name}"),
            "read_only_arguments": ("--permission-mode=plan",),
            "allowed_tools_arguments": ("--tools={allowed_tools}",),
            "max_turns_arguments": ("--max-turns={max_turns}",),
        },
    ),
    Preset(
        "codex-cli",
        "Codex, one run a task",
        "command",
        (("codex", "exec", "--json", "--skip-git-repo-check"),),
        install="npm install -g @openai/codex",
        login=_CODEX,
        variables=_CODEX_KNOWS,
        options={
            "agents_md": False,
            "stream": "codex-json",
            "model_arguments": _MODEL,
            "system_in_prompt": True,
            "tool_arguments": (
                *("-c", 'mcp_servers.{tools_name}.url="{tools_url}"'),
                *("-c", 'mcp_servers.{tools_name}.bearer_token_env_var="TEAMBOT_TOOLS"'),
                *("-c", 'mcp_servers.{tools_name}.default_tools_approval_mode="approve"'),
            ),
            "tool_env": {"TEAMBOT_TOOLS": "{tools_secret}"},
            "read_only_arguments": ("--sandbox=read-only",),
        },
    ),
    Preset(
        "gemini-cli",
        "Gemini CLI, one run a task",
        "command",
        (("gemini", "-o", "stream-json"),),
        install="npm install -g @google/gemini-cli",
        login=_GEMINI,
        variables=_GEMINI_KNOWS,
        # It takes servers only from settings of the user, the project or root: `gemini` gets our tools.
        options={
            "stream": "gemini-json",
            "model_arguments": _MODEL,
            "system_in_prompt": True,
            "read_only_arguments": ("--approval-mode=plan",),
        },
    ),
    Preset(
        "copilot-cli",
        "GitHub Copilot CLI, one run a task",
        "command",
        (("copilot", "--output-format", "json", "--no-ask-user"),),
        install="npm install -g @github/copilot",
        login=_COPILOT,
        variables=_COPILOT_KNOWS,
        options={
            "agents_md": False,
            "stream": "copilot-json",
            "model_arguments": _MODEL,
            "system_in_prompt": True,
            "tool_arguments": ("--additional-mcp-config=@{tools}", "--allow-tool={tools_name}"),
            "read_only_arguments": ("--deny-tool=write", "--deny-tool=shell"),
        },
    ),
    Preset(
        "opencode-cli",
        "OpenCode, one run a task",
        "command",
        (("opencode", "run", "--format", "json"),),
        install="npm install -g opencode-ai",
        login=_OPENCODE,
        variables=_OPENCODE_KNOWS,
        options={
            "agents_md": False,
            "stream": "opencode-json",
            "model_arguments": _MODEL,
            "system_in_prompt": True,
            "tool_env": {
                "OPENCODE_CONFIG_CONTENT": '{"mcp": {"{tools_name}": {"type": "remote",'
                ' "url": "{tools_url}", "headers": {"Authorization": "Bearer {tools_secret}"}}}}'
            },
            "read_only_arguments": ("--agent=plan",),
        },
    ),
    Preset(
        "qwen-cli",
        "Qwen Code, one run a task",
        "command",
        (("qwen", "-o", "stream-json", "--include-partial-messages"),),
        install="npm install -g @qwen-code/qwen-code",
        login=_QWEN,
        variables=_QWEN_KNOWS,
        options={
            "agents_md": False,
            "stream": "claude-json",
            "model_arguments": _MODEL,
            "system_arguments": _PERSONA,
            "tool_arguments": ("--mcp-config={tools}",),
            "read_only_arguments": ("--approval-mode=plan",),
        },
    ),
    Preset(
        "llm",
        "llm, plain text",
        "command",
        (("llm",),),
        install="pip install llm",
        login=Login(
            _PROVIDER_KEYS,
            (("LLM_USER_PATH", ".config/io.datasette.llm", "keys.json"),),
            "run `llm keys set`",
        ),
        variables=("LLM_USER_PATH", *_NETWORK),
        options={
            "model_arguments": _MODEL,
            "system_arguments": ("--system={system}",),
            "read_only_arguments": _ONLY_ANSWERS,
        },
    ),
    Preset(
        "ollama",
        "Ollama, plain text; needs a model",
        "command",
        (("ollama", "run", "{model}"),),
        install="see https://ollama.com",
        login=Login(needed=False),
        variables=("OLLAMA_HOST", "OLLAMA_MODELS", *_NETWORK),
        options={"system_in_prompt": True, "read_only_arguments": _ONLY_ANSWERS},
    ),
)

PRESETS: Final[Mapping[str, Preset]] = MappingProxyType({preset.name: preset for preset in _ALL})
"""By name, the ones to offer first first."""

SERVERS: Final[Mapping[str, Server]] = MappingProxyType(
    {
        server.name: server
        for server in (
            Server("ollama-server", "Ollama", 11434),
            Server("lm-studio", "LM Studio", 1234),
            Server("llama-cpp", "llama.cpp", 8080),
        )
    }
)
