import { createHash } from 'node:crypto';

/** The folder where agents look for skills. */
export const SKILLS_PATH = '/.well-known/agent-skills';

/**
 * The index of the published skills (Agent Skills Discovery 0.2.0).
 * @param skills the texts of the skills by name
 */
export function skillIndex(skills: Readonly<Record<string, string>>): object {
  return {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: Object.entries(skills).map(([name, text]) => ({
      name,
      type: 'skill-md',
      description: descriptionOf(text),
      url: `${SKILLS_PATH}/${name}/SKILL.md`,
      digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    })),
  };
}

/** The description in the frontmatter of a skill. */
function descriptionOf(text: string): string {
  const [, frontmatter] = text.split('---\n', 2);
  return /^description: (.*)$/m.exec(frontmatter!)![1]!;
}
