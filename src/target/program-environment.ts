type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment for a program that sends data to another machine. idkit's own variables are left out, because
 * ssh can pass variables on, and those programs do not need them.
 */
export function withoutSecrets(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !name.startsWith('IDKIT_')) kept[name] = value;
  return kept;
}
