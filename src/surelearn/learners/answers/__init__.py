"""What fitted learners answer: labels, margins, probabilities; must not know how they learn."""
